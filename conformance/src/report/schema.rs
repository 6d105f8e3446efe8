//! The JSON Schema of `report.json`, derived from the types of a report. `conformance/schemas/report.schema.json` is
//! generated from it, and a test validates real reports against it.

use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::found::{Report, SCHEMA};

/// The schema.
#[must_use]
pub fn schema() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut schema = settings.into_generator().into_root_schema_for::<Report>().to_value();
    schema["title"] = format!("The report of a run, version {SCHEMA}").into();
    schema
}
