//! Tables as JSON: a list for each column.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use narrows_record::Table;
use serde_json::{Map, Value};

/// The columns of a table by name; a null is null.
pub(crate) fn columns(table: &Table) -> Value {
    let schema = table.batch.schema();
    let named = schema.fields().iter().zip(table.batch.columns());
    let named = named.map(|(field, column)| (field.name().clone(), values(column)));
    Value::Object(named.collect::<Map<_, _>>())
}

fn values(column: &ArrayRef) -> Value {
    let of = |get: &dyn Fn(usize) -> Value| {
        let one = |row| if column.is_null(row) { Value::Null } else { get(row) };
        (0..column.len()).map(one).collect()
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
