//! JSON Schemas (draft 2020-12) of the messages and rows, made from the types. `schemas/` holds them as files.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use serde_json::{Map, Value, json};

use crate::{results, tool};

/// Every schema with the name of its file, without `.json`.
pub fn all() -> Vec<(&'static str, Value)> {
    vec![
        (
            "from_referee",
            written::<crate::FromReferee>("from_referee"),
        ),
        ("hello", message::<crate::Hello>("hello", Side::Referee)),
        ("start", message::<crate::Start>("start", Side::Referee)),
        ("turn", message::<crate::Turn>("turn", Side::Referee)),
        ("played", message::<crate::Played>("played", Side::Referee)),
        ("ping", message::<crate::Ping>("ping", Side::Referee)),
        ("stop", message::<crate::Stop>("stop", Side::Referee)),
        (
            "error",
            message::<crate::ErrorMessage>("error", Side::Referee),
        ),
        ("end", message::<crate::End>("end", Side::Referee)),
        ("bye", message::<crate::Bye>("bye", Side::Referee)),
        ("from_bot", read::<crate::FromBot>("from_bot")),
        ("ready", message::<crate::Ready>("ready", Side::Bot)),
        ("move", message::<crate::Move>("move", Side::Bot)),
        ("pong", message::<crate::Pong>("pong", Side::Bot)),
        ("game_row", written::<results::GameRow>("game_row")),
        (
            "standing_row",
            written::<results::StandingRow>("standing_row"),
        ),
        ("ruling_row", written::<results::RulingRow>("ruling_row")),
        ("rating_row", written::<results::RatingRow>("rating_row")),
        ("gate_result", written::<results::GateResult>("gate_result")),
        ("rules_request", read::<tool::Request>("rules_request")),
        ("rules_answer", written::<tool::Answer>("rules_answer")),
        ("rules_error", written::<tool::Failure>("rules_error")),
    ]
}

/// Who writes a message: what is optional for a bot, the referee always writes.
enum Side {
    Referee,
    Bot,
}

/// The schema of what hakem writes.
fn written<T: JsonSchema>(name: &str) -> Value {
    finish::<T>(name, SchemaSettings::draft2020_12().for_serialize())
}

/// The schema of what hakem reads.
fn read<T: JsonSchema>(name: &str) -> Value {
    finish::<T>(name, SchemaSettings::draft2020_12().for_deserialize())
}

/// The schema of one message: that of its type, and the `type` that tells it from others.
fn message<T: JsonSchema>(kind: &str, side: Side) -> Value {
    let mut schema = match side {
        Side::Referee => written::<T>(kind),
        Side::Bot => read::<T>(kind),
    };
    let object = schema.as_object_mut().expect("a schema is an object");
    let properties = object
        .entry("properties")
        .or_insert_with(|| Value::Object(Map::new()));
    properties["type"] = json!({"const": kind});
    let required = object
        .entry("required")
        .or_insert_with(|| Value::Array(Vec::new()));
    required
        .as_array_mut()
        .expect("`required` is a list")
        .insert(0, Value::from("type"));
    schema
}

fn finish<T: JsonSchema>(name: &str, settings: SchemaSettings) -> Value {
    let schema = settings
        .with_transform(RecursiveTransform(drop_formats))
        .into_generator()
        .into_root_schema_for::<T>();
    let mut schema = schema.to_value();
    schema["$id"] = Value::from(format!("urn:hakem:protocol:{}:{name}", crate::VERSION));
    schema["title"] = Value::from(name);
    schema
}

/// `format: uint64` and the like are no formats of JSON Schema; the bounds beside them say what they mean.
fn drop_formats(schema: &mut schemars::Schema) {
    schema.remove("format");
}
