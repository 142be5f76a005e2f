//! Golden files: what a program wrote once and a person looked at. `UPDATE_GOLDEN=1` writes them anew.

use std::path::Path;

/// Compares `text` with the file of this name in `tests/golden/`.
#[track_caller]
pub(crate) fn assert_golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some_and(|value| value == "1") {
        let folder = path.parent().expect("the path has a folder");
        std::fs::create_dir_all(folder).expect("the folder can be made");
        std::fs::write(&path, text).expect("the golden file can be written");
        return;
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_else(|error| {
        panic!("tests/golden/{name}: {error}; UPDATE_GOLDEN=1 writes it: look at it then")
    });
    assert!(
        golden == text,
        "tests/golden/{name} is otherwise; UPDATE_GOLDEN=1 writes it anew.\n--- golden\n{golden}\n--- now\n{text}"
    );
}
