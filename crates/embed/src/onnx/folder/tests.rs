use super::*;

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let temp = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = temp.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    temp
}

#[test]
fn the_model_file_is_found_where_it_usually_is() {
    let check = |files: &[&str], expected: Result<&str, &str>| {
        let files: Vec<_> = files.iter().map(|name| (*name, "")).collect();
        let temp = folder(&files);
        let found = ModelFolder::open(temp.path()).map(|folder| folder.model);
        match (found, expected) {
            (Ok(model), Ok(expected)) => assert_eq!(model, temp.path().join(expected)),
            (Err(error), Err(expected)) => assert!(error.to_string().contains(expected), "{error}"),
            (found, expected) => panic!("{found:?} instead of {expected:?}"),
        }
    };
    check(&["model.onnx", "onnx/model.onnx", "model_int8.onnx"], Ok("model.onnx"));
    check(&["onnx/model.onnx"], Ok("onnx/model.onnx"));
    check(&["model_int8.onnx"], Ok("model_int8.onnx"));
    check(&["readme.md"], Err("has no file that ends in .onnx"));
    check(&["a.onnx", "onnx/b.onnx"], Err("has several models"));
}

#[test]
fn what_the_folder_says_becomes_the_manifest() {
    let temp = folder(&[
        ("model.onnx", "weights"),
        ("tokenizer.json", "{}"),
        ("1_Pooling/config.json", r#"{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}"#),
        ("sentence_bert_config.json", r#"{"max_seq_length": 128}"#),
        ("config_sentence_transformers.json", r#"{"prompts": {"query": "query: ", "passage": "passage: "}}"#),
    ]);
    let to = tempfile::tempdir().unwrap();
    let manifest = ModelFolder::open(temp.path()).unwrap().copy_files(to.path(), "own", None).unwrap();
    assert_eq!((manifest.pooling, manifest.max_tokens), (Pooling::Cls, 128));
    assert_eq!((manifest.query_prefix.as_str(), manifest.document_prefix.as_str()), ("query: ", "passage: "));
    let identity = manifest.identity();
    assert!(identity.starts_with("own@") && identity.contains("/0/cls/"), "{identity}");
    assert_eq!(manifest.read_verified_file(to.path(), "model.onnx").unwrap(), b"weights");
    fs::write(to.path().join("model.onnx"), "weighty").unwrap();
    let error = manifest.read_verified_file(to.path(), "model.onnx").unwrap_err().to_string();
    assert!(error.ends_with("has changed since it was installed: the SHA-256 differs"), "{error}");
    fs::write(to.path().join("model.onnx"), "weigh").unwrap();
    let error = manifest.read_verified_file(to.path(), "model.onnx").unwrap_err().to_string();
    assert!(error.ends_with("has 5 bytes instead of 7"), "{error}");
}

#[test]
fn a_known_model_brings_its_prefixes() {
    let temp = folder(&[
        ("model.onnx", ""),
        ("tokenizer.json", "{}"),
        ("config.json", r#"{"_name_or_path": "BAAI/bge-small-en-v1.5"}"#),
    ]);
    let folder = ModelFolder::open(temp.path()).unwrap();
    let known = folder.find_catalogue_entry();
    assert_eq!(known.map(|entry| entry.name), Some("bge-small"));
    let to = tempfile::tempdir().unwrap();
    let manifest = folder.copy_files(to.path(), "bge-small", known).unwrap();
    assert!(
        manifest.pooling == Pooling::Cls && manifest.query_prefix.starts_with("Represent"),
        "{manifest:?}"
    );
}

#[test]
fn each_file_and_the_number_of_tokens_are_part_of_the_identity() {
    let usual = [("model.onnx", "weights"), ("tokenizer.json", "{}")];
    let identity = |more: &[(&str, &str)]| {
        let (temp, to) = (folder(&[&usual, more].concat()), tempfile::tempdir().unwrap());
        ModelFolder::open(temp.path()).unwrap().copy_files(to.path(), "own", None).unwrap().identity()
    };
    let first = identity(&[]);
    assert_eq!(identity(&[]), first);
    assert_ne!(identity(&[("model.onnx", "others")]), first);
    assert_ne!(identity(&[("tokenizer.json", "{ }")]), first);
    assert_ne!(identity(&[("tokenizer_config.json", "{}")]), first);
    assert_ne!(identity(&[("sentence_bert_config.json", r#"{"max_seq_length": 64}"#)]), first);
}

#[test]
fn files_that_are_too_large_or_no_files_are_refused() {
    let temp = folder(&[("a", "four")]);
    let path = |name| temp.path().join(name);
    assert_eq!(read_regular_file(&path("a"), 4).unwrap(), b"four");
    let error = |path: &Path, most| read_regular_file(path, most).unwrap_err().to_string();
    assert!(error(&path("a"), 3).ends_with("a: is larger than 3 bytes"));
    assert!(error(temp.path(), 9).ends_with("is not a regular file"));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(path("a"), path("link")).unwrap();
        assert_eq!(read_regular_file(&path("link"), 4).unwrap(), b"four");
        std::os::unix::fs::symlink("/dev/zero", path("zero")).unwrap();
        assert!(error(&path("zero"), 9).ends_with("is not a regular file"));
    }
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        mknodat(CWD, path("fifo"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        assert!(error(&path("fifo"), 9).ends_with("is not a regular file"));
    }
}

#[test]
fn a_long_prefix_is_refused() {
    let prompts = format!(r#"{{"prompts": {{"query": "{}"}}}}"#, "q".repeat(MAX_PREFIX_BYTES + 1));
    let temp = folder(&[("model.onnx", ""), ("tokenizer.json", "{}"), (PROMPTS_FILE_NAME, &prompts)]);
    let to = tempfile::tempdir().unwrap();
    let error =
        ModelFolder::open(temp.path()).unwrap().copy_files(to.path(), "own", None).unwrap_err().to_string();
    assert!(error.ends_with("has a prefix of more than 1024 bytes"), "{error}");
}
