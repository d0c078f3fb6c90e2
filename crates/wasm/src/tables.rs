//! Tables as JSON: a list for each column.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use narrows_record::Table;
use serde_json::{Map, Value};

use crate::stretch::Stretch;

/// The columns of a table by name; a null is null.
pub(crate) fn columns(table: &Table) -> Value {
    some(table, |_| true)
}

/// The rows of a flow's stretch in the table of packets.
pub(crate) fn packets(table: &Table, stretch: &Stretch) -> Value {
    let flows = table.batch["flow"].as_primitive::<UInt32Type>();
    let times = table.batch["time_s"].as_primitive::<Float64Type>();
    let within = stretch.from_s..=stretch.to_s;
    some(table, |row| flows.value(row) == stretch.flow && within.contains(&times.value(row)))
}

/// The columns of the rows selected by `keep`.
fn some(table: &Table, keep: impl Fn(usize) -> bool) -> Value {
    let rows: Vec<usize> = (0..table.batch.num_rows()).filter(|&row| keep(row)).collect();
    let schema = table.batch.schema();
    let named = schema.fields().iter().zip(table.batch.columns());
    let named = named.map(|(field, column)| (field.name().clone(), values(column, &rows)));
    Value::Object(named.collect::<Map<_, _>>())
}

fn values(column: &ArrayRef, rows: &[usize]) -> Value {
    let of = |get: &dyn Fn(usize) -> Value| {
        rows.iter().map(|&row| if column.is_null(row) { Value::Null } else { get(row) }).collect()
    };
    match column.data_type() {
        DataType::Float64 => of(&|row| column.as_primitive::<Float64Type>().value(row).into()),
        DataType::UInt32 => of(&|row| column.as_primitive::<UInt32Type>().value(row).into()),
        DataType::UInt64 => of(&|row| column.as_primitive::<UInt64Type>().value(row).into()),
        DataType::Boolean => of(&|row| column.as_boolean().value(row).into()),
        DataType::Utf8View => of(&|row| column.as_string_view().value(row).into()),
        other => unreachable!("tables have no columns of {other}"),
    }
}
