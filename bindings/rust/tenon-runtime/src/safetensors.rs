//! Named tensors in files of the format safetensors.

use std::collections::BTreeMap;
use std::ptr;

use tenon_sys as sys;

use crate::dtype::DType;
use crate::error::{check, Result};
use crate::operand::{Lent, Operand};
use crate::scope::current;
use crate::tensor::{sizes, Tensor};
use crate::text::{c_text, view, OwnedText};

/// Collects named tensors and writes them to a file or to memory.
///
/// ```
/// use tenon::{tensor, Safetensors, SafetensorsWriter};
///
/// let bytes = SafetensorsWriter::new().tensor("w", tensor![1., 2.])?.to_bytes()?;
/// let file = Safetensors::from_bytes(&bytes)?;
/// assert_eq!(file.load("w")?.to_vec::<f32>()?, [1., 2.]);
/// # tenon::Result::Ok(())
/// ```
#[derive(Default)]
pub struct SafetensorsWriter {
    tensors: Vec<(String, Tensor)>,
    metadata: Vec<(String, String)>,
}

impl SafetensorsWriter {
    /// Creates a writer without tensors.
    ///
    /// ```
    /// let writer = tenon::SafetensorsWriter::new();
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tensor, or the current value of a variable.
    ///
    /// ```
    /// let writer = tenon::SafetensorsWriter::new().tensor("w", tenon::tensor![1.])?;
    /// # tenon::Result::Ok(())
    /// ```
    pub fn tensor<'a>(mut self, name: impl Into<String>, tensor: impl Operand<'a>) -> Result<Self> {
        self.tensors
            .push((name.into(), tensor.lend().map(Lent::into_tensor)?));
        Ok(self)
    }

    /// Adds an entry to the metadata.
    ///
    /// ```
    /// let writer = tenon::SafetensorsWriter::new().metadata("epoch", "7");
    /// ```
    #[must_use]
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.metadata.push((key.into(), value.into()));
        self
    }

    /// Writes a file. It appears under its name only when it is complete.
    ///
    /// ```no_run
    /// # use tenon::{tensor, SafetensorsWriter};
    /// SafetensorsWriter::new().tensor("w", tensor![1.])?.save("weights.safetensors")?;
    /// # tenon::Result::Ok(())
    /// ```
    pub fn save(&self, path: &str) -> Result<()> {
        let (names, tensors, metadata) = self.c();
        // SAFETY: all arguments outlive the call.
        unsafe {
            check(sys::tenon_safetensors_save(
                current()?,
                c_text(path),
                names.as_ptr(),
                tensors.as_ptr(),
                tensors.len(),
                metadata.as_ptr(),
                metadata.len(),
            ))
        }
    }

    /// Returns the content of a safetensors file as bytes.
    ///
    /// ```
    /// let bytes = tenon::SafetensorsWriter::new().tensor("w", tenon::tensor![1.])?.to_bytes()?;
    /// # tenon::Result::Ok(())
    /// ```
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let (names, tensors, metadata) = self.c();
        let mut bytes = OwnedText::empty();
        // SAFETY: all arguments outlive the call, which transfers the bytes to the caller.
        unsafe {
            check(sys::tenon_safetensors_write(
                current()?,
                names.as_ptr(),
                tensors.as_ptr(),
                tensors.len(),
                metadata.as_ptr(),
                metadata.len(),
                &mut bytes.0,
            ))?;
        }
        Ok(bytes.bytes().to_vec())
    }

    #[allow(clippy::type_complexity)]
    fn c(
        &self,
    ) -> (
        Vec<sys::tenon_string>,
        Vec<*mut sys::tenon_tensor>,
        Vec<sys::tenon_metadata>,
    ) {
        (
            self.tensors.iter().map(|(name, _)| c_text(name)).collect(),
            self.tensors
                .iter()
                .map(|(_, tensor)| tensor.raw())
                .collect(),
            self.metadata
                .iter()
                .map(|(key, value)| sys::tenon_metadata {
                    key: c_text(key),
                    value: c_text(value),
                })
                .collect(),
        )
    }
}

shared_handle! {
    /// An open file of named tensors, or the content of a file in memory. Opening validates the
    /// header.
    ///
    /// See [`SafetensorsWriter`] for an example:
    ///
    /// ```no_run
    /// let w = tenon::Safetensors::open("weights.safetensors")?.load("w")?;
    /// # tenon::Result::Ok(())
    /// ```
    Safetensors, tenon_safetensors, tenon_safetensors_retain, tenon_safetensors_release
}

/// The name and type of a tensor in a file.
///
/// ```no_run
/// for entry in tenon::Safetensors::open("weights.safetensors")?.entries() {
///     println!("{}: {}{:?}", entry.name, entry.dtype, entry.shape);
/// }
/// # tenon::Result::Ok(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SafetensorsEntry {
    /// The name of the tensor.
    pub name: String,
    /// The element type.
    pub dtype: DType,
    /// The sizes of the axes.
    pub shape: Vec<i64>,
}

impl Safetensors {
    /// Opens a file.
    ///
    /// ```
    /// let error = tenon::Safetensors::open("/no/such/file").err().unwrap();
    /// assert_eq!(error.code(), tenon::Code::NotFound);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn open(path: &str) -> Result<Self> {
        crate::context::load_library()?;
        let mut raw = ptr::null_mut();
        // SAFETY: the path is borrowed until the call returns.
        unsafe {
            check(sys::tenon_safetensors_open(c_text(path), &mut raw))?;
            Ok(Self::adopt(raw))
        }
    }

    /// Opens the content of a file in memory. Copies the bytes.
    ///
    /// ```
    /// let error = tenon::Safetensors::from_bytes(b"no file").err().unwrap();
    /// assert_eq!(error.code(), tenon::Code::DataLoss);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        crate::context::load_library()?;
        let mut raw = ptr::null_mut();
        // SAFETY: the call copies the bytes.
        unsafe {
            check(sys::tenon_safetensors_open_memory(
                bytes.as_ptr().cast(),
                bytes.len(),
                &mut raw,
            ))?;
            Ok(Self::adopt(raw))
        }
    }

    /// Lists the tensors, in the order in which the file stores their elements.
    ///
    /// ```
    /// # use tenon::{tensor, Safetensors, SafetensorsWriter};
    /// # let bytes = SafetensorsWriter::new().tensor("w", tensor![1.])?.to_bytes()?;
    /// let file = Safetensors::from_bytes(&bytes)?;
    /// assert_eq!(file.entries()[0].name, "w");
    /// # tenon::Result::Ok(())
    /// ```
    pub fn entries(&self) -> Vec<SafetensorsEntry> {
        // SAFETY: the strings live as long as the file, and are copied.
        unsafe {
            (0..sys::tenon_safetensors_count(self.raw()))
                .map(|index| SafetensorsEntry {
                    name: view(sys::tenon_safetensors_name(self.raw(), index)).to_owned(),
                    dtype: DType::from_c(sys::tenon_safetensors_dtype(self.raw(), index)),
                    shape: sizes(
                        sys::tenon_safetensors_shape(self.raw(), index),
                        sys::tenon_safetensors_rank(self.raw(), index),
                    )
                    .to_vec(),
                })
                .collect()
        }
    }

    /// Returns the metadata of the file.
    ///
    /// ```
    /// # use tenon::{Safetensors, SafetensorsWriter};
    /// # let bytes = SafetensorsWriter::new().metadata("epoch", "7").to_bytes()?;
    /// let file = Safetensors::from_bytes(&bytes)?;
    /// assert_eq!(file.metadata()["epoch"], "7");
    /// # tenon::Result::Ok(())
    /// ```
    pub fn metadata(&self) -> BTreeMap<String, String> {
        // SAFETY: the strings live as long as the file, and are copied.
        unsafe {
            (0..sys::tenon_safetensors_count_metadata(self.raw()))
                .map(|index| {
                    let entry = sys::tenon_safetensors_metadata(self.raw(), index);
                    (view(entry.key).to_owned(), view(entry.value).to_owned())
                })
                .collect()
        }
    }

    /// Loads a tensor onto the current device.
    ///
    /// ```
    /// # use tenon::{tensor, Safetensors, SafetensorsWriter};
    /// # let bytes = SafetensorsWriter::new().tensor("w", tensor![1.])?.to_bytes()?;
    /// let w = Safetensors::from_bytes(&bytes)?.load("w")?;
    /// # tenon::Result::Ok(())
    /// ```
    pub fn load(&self, name: &str) -> Result<Tensor> {
        let mut raw = ptr::null_mut();
        // SAFETY: the name is borrowed until the call returns.
        unsafe {
            check(sys::tenon_safetensors_load(
                current()?,
                self.raw(),
                c_text(name),
                &mut raw,
            ))?;
            Ok(Tensor::adopt(raw))
        }
    }
}
