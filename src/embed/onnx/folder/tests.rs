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
        let found = Folder::open(temp.path()).map(|folder| folder.model);
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
    let manifest = Folder::open(temp.path()).unwrap().copy(to.path(), "own", None).unwrap();
    assert_eq!((manifest.pooling, manifest.max_tokens), (Pooling::Cls, 128));
    assert_eq!((manifest.query_prefix.as_str(), manifest.document_prefix.as_str()), ("query: ", "passage: "));
    let identity = manifest.identity();
    assert!(identity.starts_with("own@") && identity.contains("/0/cls/"), "{identity}");
    assert_eq!(manifest.content(to.path(), "model.onnx").unwrap(), b"weights");
    fs::write(to.path().join("model.onnx"), "weighty").unwrap();
    let error = manifest.content(to.path(), "model.onnx").unwrap_err().to_string();
    assert!(error.ends_with("has another SHA-256 than the file that was installed"), "{error}");
    fs::write(to.path().join("model.onnx"), "weigh").unwrap();
    let error = manifest.content(to.path(), "model.onnx").unwrap_err().to_string();
    assert!(error.ends_with("has 5 bytes instead of 7"), "{error}");
}

#[test]
fn a_known_model_brings_its_prefixes() {
    let temp = folder(&[
        ("model.onnx", ""),
        ("tokenizer.json", "{}"),
        ("config.json", r#"{"_name_or_path": "BAAI/bge-small-en-v1.5"}"#),
    ]);
    let folder = Folder::open(temp.path()).unwrap();
    let known = folder.known();
    assert_eq!(known.map(|entry| entry.name), Some("bge-small"));
    let to = tempfile::tempdir().unwrap();
    let manifest = folder.copy(to.path(), "bge-small", known).unwrap();
    assert!(
        manifest.pooling == Pooling::Cls && manifest.query_prefix.starts_with("Represent"),
        "{manifest:?}"
    );
}
