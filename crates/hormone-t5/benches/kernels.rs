//! Single kernels, natively: `cargo bench -p hormone-t5`. What a browser makes of them is `cargo xtask bench`'s to say.
//!
//! Every `expect` is of tensors and files made here, whose fixed shapes fit each other.

#![allow(missing_docs)] // Of the functions that criterion's macros make.

use std::collections::BTreeMap;
use std::hint::black_box;

use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{DType, Device, Tensor};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use hormone_t5::ops::cross_entropy;
use hormone_t5::ops::log_sum_exp;
use hormone_t5::q8::{Activations, Q8Matrix};
use hormone_t5::{Result, T5, T5Config, Weights};

const WIDTH: usize = 512;
const VOCABULARY: usize = 32128;

fn wave(count: usize) -> Vec<f32> {
    (0..count).map(|place| (place as f32 * 0.37).sin()).collect()
}

/// Products with 8-bit weights, for as many rows as a reply, two lanes, four beams and a text have.
fn products(criterion: &mut Criterion) {
    let dense = Tensor::from_vec(wave(WIDTH * WIDTH), (WIDTH, WIDTH), &Device::Cpu).expect("a matrix");
    let stored = QTensor::quantize(&dense, GgmlDType::Q8_0).and_then(|tensor| Ok(tensor.data()?.to_vec())).expect("8-bit weights");
    let matrix = Q8Matrix::from_q8_0(&stored, WIDTH, WIDTH).expect("a matrix");
    let mut group = criterion.benchmark_group("q8_product");
    for rows in [1, 2, 4, 24] {
        let mut x = Activations::default();
        x.set(&wave(rows * WIDTH), WIDTH);
        let mut y = vec![0.0; rows * WIDTH];
        group.throughput(Throughput::Elements((rows * WIDTH * WIDTH) as u64));
        group.bench_function(BenchmarkId::from_parameter(rows), |bencher| bencher.iter(|| matrix.product(black_box(&x), &mut y)));
    }
    group.finish();
    let (mut activations, row) = (Activations::default(), wave(WIDTH));
    criterion.bench_function("activations", |bencher| bencher.iter(|| activations.set(black_box(&row), WIDTH)));
}

/// The encoder with gradients, the encoder of one text, and a step of the decoder, in f32.
fn passes(criterion: &mut Criterion) {
    let model = || -> Result<(T5, Tensor, Tensor)> {
        let config = T5Config::from_json(
            br#"{"vocab_size":1000,"d_model":256,"d_kv":64,"d_ff":768,"num_layers":4,"num_decoder_layers":3,"num_heads":4}"#,
        )?;
        let t5 = T5::load(&Weights::trainable(BTreeMap::new(), 1), &config)?;
        let ids = Tensor::arange(5u32, 29, &Device::Cpu)?.unsqueeze(0)?;
        let mask = Tensor::ones((1, 24), DType::F32, &Device::Cpu)?;
        Ok((t5, ids, mask))
    };
    let (t5, ids, mask) = model().expect("a model");
    let text: Vec<u32> = (5..29).collect();
    criterion.bench_function("encode", |bencher| bencher.iter(|| t5.encode(black_box(&ids), &mask)));
    criterion.bench_function("encode_text", |bencher| bencher.iter(|| t5.encode_text(black_box(&text))));
    let hidden = t5.encode_text(&text).expect("hidden states");
    let cache = t5.start_decoding(&hidden, &mask).expect("a cache");
    criterion.bench_function("decoder_step", |bencher| {
        bencher.iter_batched_ref(|| cache.clone(), |cache| t5.advance(&mut [cache], &[7]), criterion::BatchSize::SmallInput);
    });
}

/// What is done with the scores of a whole vocabulary.
fn scores(criterion: &mut Criterion) {
    let row = wave(VOCABULARY);
    criterion.bench_function("log_sum_exp", |bencher| bencher.iter(|| log_sum_exp(black_box(&row))));
    let logits = Tensor::from_vec(row, (1, VOCABULARY), &Device::Cpu).expect("logits");
    let label = Tensor::new(&[77u32], &Device::Cpu).expect("a label");
    criterion.bench_function("cross_entropy", |bencher| bencher.iter(|| cross_entropy(black_box(&logits), &label)));
}

criterion_group!(kernels, products, passes, scores);
criterion_main!(kernels);
