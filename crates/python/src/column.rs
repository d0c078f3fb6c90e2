//! Columns of a table as bytes, which NumPy takes as arrays.

use std::collections::BTreeMap;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray};
use arrow_schema::DataType;
use parquet::errors::ParquetError;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::long_table::unreadable;

/// The name of a column's type; its values; if any is null, a byte for each row that is 1 where the
/// value is null; and in a column of texts, the texts to which the values are indices.
pub type ColumnParts<'py> =
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

/// A column of `rows` rows as bytes, from the arrays of which it consists.
pub fn plain<'py>(
    py: Python<'py>,
    data: &DataType,
    rows: usize,
    arrays: impl Iterator<Item = Result<ArrayRef, ParquetError>> + Send,
) -> PyResult<ColumnParts<'py>> {
    let kind = type_name(data)
        .ok_or_else(|| PyValueError::new_err(format!("a column of the type {data}")))?;
    let gathered = py.detach(|| {
        let mut gathered = ColumnBuffer::new(kind, rows);
        for array in arrays {
            gathered.add(&*array?);
        }
        Ok(gathered)
    });
    let found = gathered.map_err(unreadable)?;
    let nulls = (!found.nulls.is_empty()).then(|| PyBytes::new(py, &found.nulls));
    let texts = (kind == "text").then_some(found.texts);
    Ok((kind, PyBytes::new(py, &found.values), nulls, texts))
}

/// The values of a column's arrays one after the other.
struct ColumnBuffer {
    kind: &'static str,
    values: Vec<u8>,
    /// Empty until there is a null.
    nulls: Vec<u8>,
    rows: usize,
    /// The texts without repetitions in the order of their first rows, and their numbers.
    texts: Vec<String>,
    known: BTreeMap<String, u32>,
}

impl ColumnBuffer {
    fn new(kind: &'static str, rows: usize) -> Self {
        let width = match kind {
            "flag" => 1,
            "uint32" | "text" => 4,
            _ => 8,
        };
        let values = Vec::with_capacity(rows * width);
        Self { kind, values, nulls: Vec::new(), rows: 0, texts: Vec::new(), known: BTreeMap::new() }
    }

    fn add(&mut self, array: &dyn Array) {
        match self.kind {
            "float64" => self.numbers(array.as_primitive::<Float64Type>(), f64::to_le_bytes),
            "uint32" => self.numbers(array.as_primitive::<UInt32Type>(), u32::to_le_bytes),
            "uint64" => self.numbers(array.as_primitive::<UInt64Type>(), u64::to_le_bytes),
            "int64" => self.numbers(array.as_primitive::<Int64Type>(), i64::to_le_bytes),
            "flag" => self.values.extend(array.as_boolean().values().iter().map(u8::from)),
            _ => match array.data_type() {
                DataType::Utf8View => self.encode_texts(array.as_string_view().iter()),
                DataType::Utf8 => self.encode_texts(array.as_string::<i32>().iter()),
                _ => self.encode_texts(array.as_string::<i64>().iter()),
            },
        }
        if let Some(nulls) = array.logical_nulls().filter(|nulls| nulls.null_count() > 0) {
            self.nulls.resize(self.rows, 0);
            self.nulls.extend(nulls.iter().map(|known| u8::from(!known)));
        } else if !self.nulls.is_empty() {
            self.nulls.resize(self.rows + array.len(), 0);
        }
        self.rows += array.len();
    }

    fn numbers<T: ArrowPrimitiveType, const N: usize>(
        &mut self,
        array: &PrimitiveArray<T>,
        bytes: fn(T::Native) -> [u8; N],
    ) {
        self.values.extend(array.values().iter().flat_map(|value| bytes(*value)));
    }

    /// Texts as numbers of 32 bits.
    fn encode_texts<'a>(&mut self, values: impl Iterator<Item = Option<&'a str>>) {
        for value in values {
            let text = value.unwrap_or_default();
            let code = if let Some(&code) = self.known.get(text) {
                code
            } else {
                let code = u32::try_from(self.texts.len()).expect("fewer texts than 2^32");
                self.texts.push(text.to_owned());
                self.known.insert(text.to_owned(), code);
                code
            };
            self.values.extend(code.to_le_bytes());
        }
    }
}
