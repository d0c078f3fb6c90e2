//! Columns of a table as bytes, which NumPy takes as arrays.

use std::collections::BTreeMap;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrowPrimitiveType, PrimitiveArray};
use arrow_schema::DataType;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The name of a column's type, its values, a byte for each row that is 1 where the value is null
/// (if any is), and the texts that the values of a column of texts are numbers of.
pub type Plain<'py> =
    (&'static str, Bound<'py, PyBytes>, Option<Bound<'py, PyBytes>>, Option<Vec<String>>);

/// The name of a type in columns declared by narrows; none for another type.
pub fn type_name(data: &DataType) -> Option<&'static str> {
    Some(match data {
        DataType::Float64 => "float64",
        DataType::UInt32 => "uint32",
        DataType::UInt64 => "uint64",
        DataType::Int64 => "int64",
        DataType::Utf8View | DataType::Utf8 | DataType::LargeUtf8 => "text",
        DataType::Boolean => "flag",
        _ => return None,
    })
}

/// A column as bytes.
pub fn plain<'py>(py: Python<'py>, array: &dyn Array) -> PyResult<Plain<'py>> {
    let data = array.data_type();
    let kind = type_name(data)
        .ok_or_else(|| PyValueError::new_err(format!("a column of the type {data}")))?;
    let (values, texts) = match kind {
        "float64" => (numbers(array.as_primitive::<Float64Type>(), f64::to_le_bytes), None),
        "uint32" => (numbers(array.as_primitive::<UInt32Type>(), u32::to_le_bytes), None),
        "uint64" => (numbers(array.as_primitive::<UInt64Type>(), u64::to_le_bytes), None),
        "int64" => (numbers(array.as_primitive::<Int64Type>(), i64::to_le_bytes), None),
        "flag" => (array.as_boolean().values().iter().map(u8::from).collect(), None),
        _ => {
            let (codes, texts) = numbered(array);
            (codes, Some(texts))
        }
    };
    let nulls = array.logical_nulls().filter(|nulls| nulls.null_count() > 0);
    let nulls: Option<Vec<u8>> =
        nulls.map(|nulls| nulls.iter().map(|known| u8::from(!known)).collect());
    Ok((kind, PyBytes::new(py, &values), nulls.map(|nulls| PyBytes::new(py, &nulls)), texts))
}

fn numbers<T: ArrowPrimitiveType, const N: usize>(
    array: &PrimitiveArray<T>,
    bytes: fn(T::Native) -> [u8; N],
) -> Vec<u8> {
    array.values().iter().flat_map(|value| bytes(*value)).collect()
}

/// Texts as numbers of 32 bits into a list without repetitions, in the order of their first rows.
fn numbered(array: &dyn Array) -> (Vec<u8>, Vec<String>) {
    match array.data_type() {
        DataType::Utf8View => codes(array.as_string_view().iter()),
        DataType::Utf8 => codes(array.as_string::<i32>().iter()),
        _ => codes(array.as_string::<i64>().iter()),
    }
}

fn codes<'a>(values: impl Iterator<Item = Option<&'a str>>) -> (Vec<u8>, Vec<String>) {
    let (mut codes, mut texts, mut known) = (Vec::new(), Vec::new(), BTreeMap::new());
    for value in values {
        let text = value.unwrap_or_default();
        let code = *known.entry(text).or_insert_with(|| {
            texts.push(text.to_owned());
            u32::try_from(texts.len() - 1).expect("fewer texts than 2^32")
        });
        codes.extend(code.to_le_bytes());
    }
    (codes, texts)
}
