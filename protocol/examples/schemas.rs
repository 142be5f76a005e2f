//! Writes the JSON Schemas of the messages and rows to `schemas/`:
//! `cargo run -p hakem-protocol --features schema --example schemas`.

use std::path::Path;
use std::{fs, io};

fn main() -> io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
    for (name, schema) in hakem_protocol::schema::all() {
        fs::write(folder.join(format!("{name}.json")), format!("{schema:#}\n"))?;
    }
    Ok(())
}
