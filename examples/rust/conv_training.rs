//! Trains a small convolutional network on Fashion-MNIST, eagerly and as a traced function, saves
//! it, and loads what it saved. examples/c/conv_training.c is the same program and prints the same
//! text.
//!
//!     conv_training DATA FOLDER [THREADS]

use std::error::Error;
use std::fs::File;
use std::io::Read;

use flate2::read::GzDecoder;
use tenon::{
    custom_gradient, while_loop, Backward, Context, ContextOptions, CustomGradient, DType,
    Function, Generator, InputSpec, Program, Result, Safetensors, SafetensorsWriter, Scope,
    Statics, Tape, Tensor, Variable, VariableOptions,
};

const BATCH: usize = 64;
const STEPS: usize = 20;
const PIXELS: usize = 28 * 28;

#[derive(Clone)]
struct Network {
    conv1: Variable,
    conv2: Variable,
    dense: Variable,
}

impl Network {
    fn random() -> Result<Self> {
        let generator = Generator::new(7)?;
        let normal = |name, shape: &[i64], scale| {
            VariableOptions::new()
                .name(name)
                .create(generator.normal(shape, 0., scale))
        };
        Ok(Self {
            conv1: normal("conv1", &[8, 1, 3, 3], 0.3)?,
            conv2: normal("conv2", &[16, 8, 3, 3], 0.15)?,
            dense: normal("dense", &[784, 10], 0.05)?,
        })
    }

    fn load(file: &Safetensors) -> Result<Self> {
        let variable = |name| Variable::new(file.load(name));
        Ok(Self {
            conv1: variable("conv1")?,
            conv2: variable("conv2")?,
            dense: variable("dense")?,
        })
    }

    fn weights(&self) -> [&Variable; 3] {
        [&self.conv1, &self.conv2, &self.dense]
    }

    /// Maps f32[n,1,28,28] to a row of ten logits for each image.
    fn logits(&self, images: &Tensor) -> Result<Tensor> {
        let block = |x: &Tensor, w: &Variable| {
            let active = x.conv_with(w).pads(&[1, 1, 1, 1]).run()?.relu()?;
            Ok(active
                .max_pool_with()
                .kernel_shape(&[2, 2])
                .strides(&[2, 2])
                .run()?
                .y)
        };
        block(&block(images, &self.conv1)?, &self.conv2)?
            .flatten(1)?
            .matmul(&self.dense)
    }
}

fn loss_of(logits: &Tensor, labels: &Tensor) -> Result<Tensor> {
    Ok(logits
        .sparse_softmax_cross_entropy(labels, tenon::ops::Reduction::Mean)?
        .loss)
}

/// Passes a value on, and clips its gradient.
struct ClipGradient;

impl CustomGradient for ClipGradient {
    fn forward(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        Ok(vec![inputs[0].identity()?])
    }

    fn backward(&self, call: &Backward) -> Result<Vec<Option<Tensor>>> {
        Ok(vec![Some(call.cotangents[0].clip(-0.01, 0.01)?)])
    }
}

/// The learning rate of a step: halved after every ten steps.
fn rate_at(step: Tensor) -> Result<Tensor> {
    let (rate, _) = while_loop(
        (0.1, step),
        |(_, left): (Tensor, Tensor)| left.greater_equal(10),
        |(rate, left)| Ok(((rate * 0.5)?, (left - 10)?)),
    )?;
    Ok(rate)
}

/// Makes one training step. Returns the loss before it.
fn train(net: &Network, images: &Tensor, labels: &Tensor, step: Tensor) -> Result<Tensor> {
    let tape = Tape::new()?;
    let clipped = &custom_gradient(ClipGradient, net.logits(images))?[0];
    let loss = loss_of(clipped, labels)?;
    let gradients = tape.gradients(&loss, net.weights())?;
    let rate = rate_at(step)?;
    for (weight, gradient) in net.weights().into_iter().zip(&gradients) {
        weight.assign(tenon::ops::sgd(weight, gradient, &rate))?;
    }
    Ok(loss)
}

fn print_loss(what: &str, loss: &Tensor) -> Result<()> {
    println!("{what} {:.12}", loss.item::<f64>()?);
    Ok(())
}

/// Reads the elements of a gzipped IDX file whose header has `header` bytes.
fn read_idx(path: &str, header: usize) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    GzDecoder::new(File::open(path)?).read_to_end(&mut bytes)?;
    Ok(bytes.split_off(header))
}

struct Data {
    pixels: Vec<u8>,
    labels: Vec<u8>,
}

impl Data {
    /// The images of one step as numbers from 0 to 1, and their labels.
    fn batch(&self, step: usize) -> Result<(Tensor, Tensor)> {
        let images = step * BATCH..(step + 1) * BATCH;
        let pixels = &self.pixels[images.start * PIXELS..images.end * PIXELS];
        let bytes = Tensor::from_slice(pixels, &[BATCH as i64, 1, 28, 28])?;
        let labels = Tensor::from_slice(&self.labels[images], &[BATCH as i64])?;
        Ok((
            (bytes.cast(DType::F32)? * (1.0 / 255.0))?,
            labels.cast(DType::I32)?,
        ))
    }
}

fn run(data: &Data, folder: &str) -> Result<()> {
    let net = Network::random()?;
    let traced = Function::new({
        let net = net.clone();
        move |(images, labels, step): (Tensor, Tensor, Tensor)| train(&net, &images, &labels, step)
    });
    for step in 0..2 * STEPS {
        let ((images, labels), number) = (data.batch(step)?, Tensor::from(step as i64));
        if step < STEPS {
            print_loss("eager", &train(&net, &images, &labels, number)?)?;
        } else {
            print_loss("traced", &traced.call((images, labels, number))?)?;
        }
    }

    let program = format!("{folder}/conv_training_rust.program");
    let weights = format!("{folder}/conv_training_rust.safetensors");
    let classify = Function::new({
        let net = net.clone();
        move |images: Tensor| net.logits(&images)
    });
    let any_number =
        InputSpec::new(DType::F32, &[None, Some(1), Some(28), Some(28)]).name("images");
    Program::save(
        &program,
        [("classify", &classify.trace(&[any_number], &Statics::new())?)],
    )?;
    let mut writer = SafetensorsWriter::new();
    for weight in net.weights() {
        writer = writer.tensor(weight.name(), weight)?;
    }
    writer.save(&weights)?;

    let (images, labels) = data.batch(0)?;
    let classify = Program::open(&program)?.function::<Tensor, Tensor>("classify")?;
    print_loss("program", &loss_of(&classify.call(&images)?, &labels)?)?;
    let loaded = Network::load(&Safetensors::open(&weights)?)?;
    print_loss("safetensors", &loss_of(&loaded.logits(&images)?, &labels)?)
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().collect();
    let (data, folder, threads) = match &arguments[1..] {
        [data, folder] => (data, folder, 0),
        [data, folder, threads] => (data, folder, threads.parse()?),
        _ => return Err("usage: conv_training DATA FOLDER [THREADS]".into()),
    };
    let data = Data {
        pixels: read_idx(&format!("{data}/train-images-idx3-ubyte.gz"), 16)?,
        labels: read_idx(&format!("{data}/train-labels-idx1-ubyte.gz"), 8)?,
    };
    let scope = Scope::new(&Context::new(&ContextOptions::new().threads(threads))?)?;
    Ok(scope.run(|| run(&data, folder))?)
}
