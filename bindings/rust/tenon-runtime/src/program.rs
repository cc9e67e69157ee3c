//! Programs: functions that are saved to files, opened, called and trained.

use std::ptr;

use tenon_sys as sys;

use crate::error::{check, Result};
use crate::function::Function;
use crate::scope::current;
use crate::spec::InputSpec;
use crate::statics::{statics_from_c, Statics};
use crate::tensors::Tensors;
use crate::text::{c_text, view, OwnedText};
use crate::trace::Trace;
use crate::variable::Variable;

shared_handle! {
    /// A program: a folder that [`Program::save`] wrote, or an ONNX file.
    ///
    /// ```
    /// use tenon::{tensor, Function, Program, Tensor};
    ///
    /// let folder = std::env::temp_dir().join(format!("tenon-program-{}", std::process::id()));
    /// let path = folder.to_str().unwrap();
    /// let double = Function::new(|x: Tensor| x * 2);
    /// Program::save(path, [("double", &double.trace_for(&tensor![1., 2.]?)?)])?;
    ///
    /// let program = Program::open(path)?;
    /// let double = program.function::<Tensor, Tensor>("double")?;
    /// assert_eq!(double.call(&tensor![3., 4.]?)?.to_vec::<f32>()?, [6., 8.]);
    /// # std::fs::remove_dir_all(folder).unwrap();
    /// # tenon::Result::Ok(())
    /// ```
    Program, tenon_program, tenon_program_retain, tenon_program_release
}

/// A function of a program.
///
/// ```no_run
/// for function in tenon::Program::open("net")?.functions() {
///     println!("{} has {} signatures", function.name, function.signatures.len());
/// }
/// # tenon::Result::Ok(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ProgramFunction {
    /// The name of the function.
    pub name: String,
    /// The signatures of the function; at least one.
    pub signatures: Vec<ProgramSignature>,
}

/// A signature of a function, as declared in the file.
///
/// ```no_run
/// let program = tenon::Program::open("net")?;
/// let shape = program.functions()[0].signatures[0].inputs[0].shape();
/// # tenon::Result::Ok(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ProgramSignature {
    /// The inputs of the signature.
    pub inputs: Vec<InputSpec>,
    /// The outputs of the signature. If the file does not declare an output's dtype, it is
    /// [`DType::None`](crate::DType::None).
    pub outputs: Vec<InputSpec>,
    /// The values of the static arguments when the function was traced.
    pub statics: Statics,
}

impl Program {
    /// Opens a program and loads its weights onto the current device.
    ///
    /// ```
    /// let error = tenon::Program::open("/no/such/program").err().unwrap();
    /// assert_eq!(error.code(), tenon::Code::NotFound);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn open(path: &str) -> Result<Self> {
        Self::open_with(path, false)
    }

    /// Opens a program like [`open`](Self::open), but reads an ONNX file strictly: a value whose
    /// shape contradicts its declaration in the file is an error, instead of a warning.
    ///
    /// ```
    /// let error = tenon::Program::open_strict("/no/such/program").err().unwrap();
    /// assert_eq!(error.code(), tenon::Code::NotFound);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn open_strict(path: &str) -> Result<Self> {
        Self::open_with(path, true)
    }

    fn open_with(path: &str, strict: bool) -> Result<Self> {
        let options = sys::tenon_program_options {
            struct_size: std::mem::size_of::<sys::tenon_program_options>() as u32,
            strict,
        };
        let mut raw = ptr::null_mut();
        // SAFETY: the path and the options are borrowed until the call returns.
        unsafe {
            check(sys::tenon_program_open(
                current()?,
                c_text(path),
                &options,
                &mut raw,
            ))?;
            Ok(Self::adopt(raw))
        }
    }

    /// Saves traces as a program, each under a name, with the variables that they use. Traces with
    /// the same name become signatures of one function. See [`Program`].
    ///
    /// ```no_run
    /// # use tenon::{tensor, Function, Program, Tensor};
    /// let double = Function::new(|x: Tensor| x * 2);
    /// Program::save("net", [("double", &double.trace_for(&tensor![1.]?)?)])?;
    /// # tenon::Result::Ok(())
    /// ```
    pub fn save<'a>(
        path: &str,
        functions: impl IntoIterator<Item = (&'a str, &'a Trace)>,
    ) -> Result<()> {
        let (names, traces): (Vec<_>, Vec<_>) = functions
            .into_iter()
            .map(|(name, trace)| (c_text(name), trace.raw()))
            .unzip();
        // SAFETY: names and traces outlive the call.
        unsafe {
            check(sys::tenon_program_save(
                current()?,
                c_text(path),
                names.as_ptr(),
                traces.as_ptr(),
                traces.len(),
            ))
        }
    }

    /// Lists the functions of the program.
    ///
    /// ```no_run
    /// let functions = tenon::Program::open("net")?.functions();
    /// # tenon::Result::Ok(())
    /// ```
    pub fn functions(&self) -> Vec<ProgramFunction> {
        let raw = self.raw();
        // SAFETY: the declarations live as long as the program, and are copied.
        unsafe {
            (0..sys::tenon_program_count_functions(raw))
                .map(|at| ProgramFunction {
                    name: view(sys::tenon_program_function_name(raw, at)).to_owned(),
                    signatures: (0..sys::tenon_program_count_signatures(raw, at))
                        .map(|signature| ProgramSignature {
                            inputs: InputSpec::from_c(
                                sys::tenon_program_inputs(raw, at, signature),
                                sys::tenon_program_count_inputs(raw, at, signature),
                            ),
                            outputs: InputSpec::from_c(
                                sys::tenon_program_outputs(raw, at, signature),
                                sys::tenon_program_count_outputs(raw, at, signature),
                            ),
                            statics: statics_from_c(
                                sys::tenon_program_statics(raw, at, signature),
                                sys::tenon_program_count_statics(raw, at, signature),
                            ),
                        })
                        .collect(),
                })
                .collect()
        }
    }

    /// Returns a function by name. If the program has only one, the name may be empty. `I` is its
    /// input type and `O` its output type.
    ///
    /// ```no_run
    /// # use tenon::{Program, Tensor};
    /// let classify = Program::open("net")?.function::<Tensor, Tensor>("classify")?;
    /// # tenon::Result::Ok(())
    /// ```
    pub fn function<I: Tensors, O: Tensors>(&self, name: &str) -> Result<Function<I, O>> {
        let mut raw = ptr::null_mut();
        // SAFETY: the name is borrowed until the call returns.
        unsafe {
            check(sys::tenon_program_get_function(
                self.raw(),
                c_text(name),
                &mut raw,
            ))?;
            Ok(Function::adopt(raw))
        }
    }

    /// Returns the variables of the program, which its functions share.
    ///
    /// ```no_run
    /// for variable in tenon::Program::open("net")?.variables() {
    ///     println!("{variable:?}");
    /// }
    /// # tenon::Result::Ok(())
    /// ```
    pub fn variables(&self) -> Vec<Variable> {
        // SAFETY: the program keeps the variables alive; `share` adds a reference to each.
        unsafe {
            (0..sys::tenon_program_count_variables(self.raw()))
                .map(|index| Variable::share(sys::tenon_program_variable(self.raw(), index)))
                .collect()
        }
    }

    /// Returns a description of the program as JSON, for tools.
    ///
    /// ```no_run
    /// println!("{}", tenon::Program::open("net")?.describe()?);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn describe(&self) -> Result<String> {
        let mut text = OwnedText::empty();
        // SAFETY: the caller owns the string.
        unsafe { check(sys::tenon_program_describe(self.raw(), &mut text.0))? };
        Ok(text.as_str().to_owned())
    }
}
