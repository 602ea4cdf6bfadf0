// An ONNX graph of GPT-2 with random weights, as transformers.js loads it. It has the plain operators of an export, and
// its matrices are quantized dynamically to 8 bits as onnxruntime's quantize_dynamic does.
import { randomFillSync } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { gpt2Config } from "../models.mjs";
import { peersFolder } from "./install.mjs";

const elementTypes = { float: 1, int8: 3, int64: 7 };
const attributeTypes = { f: 1, i: 2, ints: 7 };
const count = (/** @type {number[]} */ dims) => dims.reduce((product, n) => product * n, 1);

function buildGraph() {
  const { n_embd: d, n_head: heads, n_layer: layers, vocab_size: vocab, n_positions: positions } = gpt2Config;
  const dim = d / heads;
  const node = /** @type {object[]} */ ([]);
  const initializer = /** @type {object[]} */ ([]);
  let names = 0;
  /** Adds an operator, and returns the names of its outputs. */
  const ops = (opType, input, attributes = {}, output = [`v${names++}`]) => {
    const attribute = Object.entries(attributes).map(([name, value]) => {
      const kind = Array.isArray(value) ? "ints" : Number.isInteger(value) ? "i" : "f";
      return { name, type: attributeTypes[kind], [kind]: value };
    });
    node.push({ opType, name: `n${names++}`, input, output, attribute });
    return output;
  };
  const op = (type, input, attributes = {}) => ops(type, input, attributes)[0] ?? "";
  const outputs = (size) => Array.from({ length: size }, () => `v${names++}`);

  const tensor = (type, dims, values) => {
    const name = `w${names++}`;
    initializer.push({ name, dims, dataType: elementTypes[type], rawData: Buffer.from(values.buffer) });
    return name;
  };
  const ints = (values, dims = [values.length]) =>
    tensor("int64", dims, BigInt64Array.from(values.map(BigInt)));
  const number = (value) => tensor("float", [], Float32Array.of(value));
  const randomFloats = (...dims) =>
    tensor(
      "float",
      dims,
      Float32Array.from({ length: count(dims) }, () => 0.02 * (Math.random() - 0.5)),
    );
  const randomCodes = (...dims) => tensor("int8", dims, randomFillSync(new Int8Array(count(dims))));
  const toFloat = (codes) => op("Cast", [codes], { to: elementTypes.float });

  /** x [.., inputs] times random 8-bit weights [inputs, out]. */
  const matmul = (x, inputs, out) => {
    const [codes, scale, zero] = ops("DynamicQuantizeLinear", [x], {}, outputs(3));
    const product = op("MatMulInteger", [codes, randomCodes(inputs, out), zero]);
    return op("Mul", [toFloat(product), op("Mul", [scale, number(2e-4)])]);
  };
  const linear = (x, inputs, out) => op("Add", [matmul(x, inputs, out), randomFloats(out)]);
  const layerNorm = (x) => {
    const gain = tensor("float", [d], new Float32Array(d).fill(1));
    return op("LayerNormalization", [x, gain, randomFloats(d)], { axis: -1, epsilon: 1e-5 });
  };
  const gelu = (x) => {
    const cube = op("Mul", [op("Pow", [x, number(3)]), number(0.044715)]);
    const tanh = op("Tanh", [op("Mul", [op("Add", [x, cube]), number(Math.sqrt(2 / Math.PI))])]);
    return op("Mul", [op("Mul", [x, number(0.5)]), op("Add", [tanh, number(1)])]);
  };
  const value = (name, type, dims) => {
    const dim = dims.map((n) => (typeof n === "number" ? { dimValue: n } : { dimParam: n }));
    return { name, type: { tensorType: { elemType: elementTypes[type], shape: { dim } } } };
  };
  const input = [
    value("input_ids", "int64", ["batch", "length"]),
    value("attention_mask", "int64", ["batch", "total"]),
  ];
  const output = [value("logits", "float", ["batch", "length", vocab])];

  // Positions of the new tokens, and which keys each of them may not see.
  const lengthOf = (name) => op("Gather", [op("Shape", [name]), ints([1], [])], { axis: 0 });
  const total = lengthOf("attention_mask");
  const queries = op("Range", [op("Sub", [total, lengthOf("input_ids")]), total, ints([1], [])]);
  const keys = op("Range", [ints([0], []), total, ints([1], [])]);
  const later = op("Greater", [op("Unsqueeze", [keys, ints([0])]), op("Unsqueeze", [queries, ints([1])])]);
  const mask = op("Where", [later, number(-1e9), number(0)]);

  const rows = toFloat(op("Gather", [randomCodes(vocab, d), "input_ids"], { axis: 0 }));
  const embedded = op("Gather", [randomFloats(positions, d), queries], { axis: 0 });
  let x = op("Add", [op("Mul", [rows, number(2e-4)]), embedded]);
  for (let layer = 0; layer < layers; ++layer) {
    const qkv = linear(layerNorm(x), d, 3 * d);
    const split = ops("Split", [qkv, ints([d, d, d])], { axis: 2 }, outputs(3));
    const [q, k, v] = split.map((part) => {
      const inHeads = op("Reshape", [part, ints([0, 0, heads, dim])]);
      return op("Transpose", [inHeads], { perm: [0, 2, 1, 3] });
    });
    const withPast = (name, fresh) => {
      const [past, present] = [`past_key_values.${layer}.${name}`, `present.${layer}.${name}`];
      input.push(value(past, "float", ["batch", heads, "past", dim]));
      output.push(value(present, "float", ["batch", heads, "total", dim]));
      return ops("Concat", [past, fresh], { axis: 2 }, [present])[0];
    };
    const transposed = op("Transpose", [withPast("key", k)], { perm: [0, 1, 3, 2] });
    const scores = op("Div", [op("MatMul", [q, transposed]), number(Math.sqrt(dim))]);
    const weights = op("Softmax", [op("Add", [scores, mask])], { axis: -1 });
    const mixed = op("Transpose", [op("MatMul", [weights, withPast("value", v)])], { perm: [0, 2, 1, 3] });
    x = op("Add", [x, linear(op("Reshape", [mixed, ints([0, 0, d])]), d, d)]);
    x = op("Add", [x, linear(gelu(linear(layerNorm(x), d, 4 * d)), 4 * d, d)]);
  }
  ops("Identity", [matmul(layerNorm(x), d, vocab)], {}, ["logits"]);
  return { name: "gpt2", node, initializer, input, output };
}

/** Writes a folder that transformers.js loads with dtype q8. It must be installed already. @param {string} folder */
export function writeOnnxFolder(folder) {
  const protobuf = createRequire(join(peersFolder, "package.json"))("protobufjs");
  const Model = protobuf.loadSync(join(import.meta.dirname, "onnx.proto")).lookupType("Model");
  const opsetImport = [{ domain: "", version: 17 }];
  const model = { irVersion: 8, producerName: "gpt2-wasm benchmark", graph: buildGraph(), opsetImport };
  const { n_positions: n_ctx, eos_token_id } = gpt2Config;
  const config = { ...gpt2Config, architectures: ["GPT2LMHeadModel"], n_ctx };
  mkdirSync(join(folder, "onnx"), { recursive: true });
  writeFileSync(join(folder, "onnx/model_quantized.onnx"), Model.encode(Model.fromObject(model)).finish());
  writeFileSync(join(folder, "config.json"), JSON.stringify(config));
  writeFileSync(join(folder, "generation_config.json"), JSON.stringify({ eos_token_id }));
}
