//! Does the process of a model return the same vector for the same text, and end when nobody listens?

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use memod_embed::onnx::{ModelCache, ModelImport, RuntimeLocations, import_model};

use super::*;

/// A model that is installed, and its process.
struct Process {
    _temp: tempfile::TempDir,
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Lines<BufReader<ChildStdout>>,
}

impl Process {
    fn start(library: &Path, model: &str) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path().join("folder");
        fs::create_dir(&dir).unwrap();
        fs::copy(tiny().join(model), dir.join("model.onnx")).unwrap();
        fs::copy(tiny().join("tokenizer.json"), dir.join("tokenizer.json")).unwrap();
        let program = Path::new(env!("CARGO_BIN_EXE_memod"));
        let runtime =
            RuntimeLocations { from_variable: Some(library.to_owned()), ..RuntimeLocations::default() };
        let wanted = ModelImport { dir: &dir, name: Some("own"), source: None };
        let installed = import_model(&wanted, &ModelCache::new(temp.path()), &runtime, program).unwrap();
        let mut command = Command::new(program);
        command.args(["embed", "--identity", &installed.manifest.identity()]);
        command.arg("--model").arg(&installed.dir).arg("--runtime").arg(runtime.find_library().unwrap());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let stdin = child.stdin.take();
        let mut stdout = BufReader::new(child.stdout.take().unwrap()).lines();
        let loaded: Value = serde_json::from_str(&stdout.next().unwrap().unwrap()).unwrap();
        assert_eq!(loaded["is_ready"], true, "{loaded}");
        Self { _temp: temp, child, stdin, stdout }
    }

    fn send(&mut self, texts: &[&str]) {
        writeln!(self.stdin.as_mut().unwrap(), "{}", json!({ "texts": texts })).unwrap();
    }

    fn vectors(&mut self, texts: &[&str]) -> Vec<Value> {
        self.send(texts);
        let reply: Value = serde_json::from_str(&self.stdout.next().unwrap().unwrap()).unwrap();
        reply["vectors"].as_array().unwrap_or_else(|| panic!("{reply}")).clone()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.stdin.take());
        self.child.wait().unwrap();
    }
}

#[test]
fn a_text_has_the_same_vector_alone_and_in_any_batch() {
    let Some(library) = library() else { return };
    let texts = ["refresh the expired session", "login", "retry the upload or the session ends", "the chart"];
    for model in ["model.onnx", "../tiny-quantised.onnx"] {
        let mut process = Process::start(Path::new(&library), model);
        let alone: Vec<_> = texts.iter().map(|text| process.vectors(&[text])[0].clone()).collect();
        assert!(alone.iter().all(Value::is_array), "{alone:?}");
        assert_eq!(process.vectors(&texts), alone, "{model}");
        let mut turned = texts;
        turned.reverse();
        assert_eq!(process.vectors(&turned).into_iter().rev().collect::<Vec<_>>(), alone, "{model}");
    }
}

#[test]
fn a_process_that_is_busy_ends_with_its_input() {
    let Some(library) = library() else { return };
    let mut process = Process::start(Path::new(&library), "model.onnx");
    process.send(&vec!["refresh the expired session"; 200_000]);
    drop(process.stdin.take());
    until("it ends", || process.child.try_wait().unwrap().is_some());
    assert!(process.stdout.next().is_none(), "it would have replied after its batch");
}
