// An ONNX graph of GPT-2 with random weights, as transformers.js loads it. It has the plain operators of an export, and
// its matrices are quantized dynamically to 8 bits as onnxruntime's quantize_dynamic does.
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

/** The messages of onnx.proto (https://github.com/onnx/onnx) that the graph needs. */
const schema = `syntax = "proto2";
message Dimension { optional int64 dim_value = 1; optional string dim_param = 2; }
message Shape { repeated Dimension dim = 1; }
message TensorType { optional int32 elem_type = 1; optional Shape shape = 2; }
message Type { optional TensorType tensor_type = 1; }
message ValueInfo { optional string name = 1; optional Type type = 2; }
message Tensor { repeated int64 dims = 1; optional int32 data_type = 2; optional string name = 8; optional bytes raw_data = 9; }
message Attribute { optional string name = 1; optional float f = 2; optional int64 i = 3; repeated int64 ints = 8; optional int32 type = 20; }
message Node { repeated string input = 1; repeated string output = 2; optional string name = 3; optional string op_type = 4; repeated Attribute attribute = 5; }
message Graph { repeated Node node = 1; optional string name = 2; repeated Tensor initializer = 5; repeated ValueInfo input = 11; repeated ValueInfo output = 12; }
message OperatorSet { optional string domain = 1; optional int64 version = 2; }
message Model { optional int64 ir_version = 1; optional string producer_name = 2; optional Graph graph = 7; repeated OperatorSet opset_import = 8; }`;

const elementTypes = { float: 1, uint8: 2, int8: 3, int64: 7 };
const attributeTypes = { f: 1, i: 2, ints: 7 };

class GraphBuilder {
  nodes = [];
  initializers = [];
  inputs = [];
  outputs = [];
  #names = 0;

  /** Adds an operator with one output, whose name it returns. */
  op(type, input, attributes = {}) {
    return this.ops(type, input, attributes, 1)[0] ?? "";
  }

  /** Adds an operator with several outputs, whose names it returns. */
  ops(type, input, attributes, outputs) {
    const output = Array.from({ length: outputs }, () => `v${this.#names++}`);
    const attribute = Object.entries(attributes).map(([name, value]) => {
      const kind = Array.isArray(value) ? "ints" : Number.isInteger(value) ? "i" : "f";
      return { name, type: attributeTypes[kind], [kind]: value };
    });
    this.nodes.push({ opType: type, name: `n${this.#names++}`, input, output, attribute });
    return output;
  }

  tensor(type, dims, rawData) {
    const name = `w${this.#names++}`;
    this.initializers.push({ name, dims, dataType: elementTypes[type], rawData });
    return name;
  }
  floats(dims, values) {
    return this.tensor("float", dims, Buffer.from(Float32Array.from(values).buffer));
  }
  float(value) {
    return this.floats([], [value]);
  }
  ints(values, dims = [values.length]) {
    return this.tensor("int64", dims, Buffer.from(BigInt64Array.from(values.map(BigInt)).buffer));
  }
  randomFloats(...dims) {
    const size = dims.reduce((product, n) => product * n, 1);
    return this.floats(
      dims,
      Float32Array.from({ length: size }, () => 0.02 * (Math.random() - 0.5)),
    );
  }
  randomCodes(...dims) {
    const bytes = Buffer.alloc(dims.reduce((product, n) => product * n, 1));
    for (let i = 0; i < bytes.length; ++i) bytes[i] = Math.random() * 256;
    return this.tensor("int8", dims, bytes);
  }

  /** x [.., in] times random 8-bit weights [in, out]. */
  matmul(x, inputs, out) {
    const [codes, scale, zero] = this.ops("DynamicQuantizeLinear", [x], {}, 3);
    const weights = this.randomCodes(inputs, out);
    const product = this.op("MatMulInteger", [codes, weights, zero]);
    const scales = this.op("Mul", [scale, this.float(2e-4)]);
    return this.op("Mul", [this.op("Cast", [product], { to: elementTypes.float }), scales]);
  }
  linear(x, inputs, out) {
    return this.op("Add", [this.matmul(x, inputs, out), this.randomFloats(out)]);
  }
  layerNorm(x, size) {
    const gain = this.floats([size], new Float32Array(size).fill(1));
    return this.op("LayerNormalization", [x, gain, this.randomFloats(size)], { axis: -1, epsilon: 1e-5 });
  }
  gelu(x) {
    const cube = this.op("Pow", [x, this.float(3)]);
    const inner = this.op("Add", [x, this.op("Mul", [cube, this.float(0.044715)])]);
    const tanh = this.op("Tanh", [this.op("Mul", [inner, this.float(Math.sqrt(2 / Math.PI))])]);
    return this.op("Mul", [this.op("Mul", [x, this.float(0.5)]), this.op("Add", [tanh, this.float(1)])]);
  }
}

const value = (name, type, dims) => ({
  name,
  type: {
    tensorType: {
      elemType: elementTypes[type],
      shape: { dim: dims.map((n) => (typeof n === "number" ? { dimValue: n } : { dimParam: n })) },
    },
  },
});

function buildGraph(config) {
  const { n_embd: d, n_head: heads, n_layer: layers, vocab_size: vocab, n_positions: positions } = config;
  const dim = d / heads;
  const g = new GraphBuilder();
  g.inputs.push(
    value("input_ids", "int64", ["batch", "length"]),
    value("attention_mask", "int64", ["batch", "total"]),
  );

  // Positions of the new tokens, and which keys each of them may not see.
  const lengthOf = (name) => g.op("Gather", [g.op("Shape", [name]), g.ints([1], [])], { axis: 0 });
  const total = lengthOf("attention_mask");
  const first = g.op("Sub", [total, lengthOf("input_ids")]);
  const one = g.ints([1], []);
  const queries = g.op("Range", [first, total, one]);
  const keys = g.op("Range", [g.ints([0], []), total, one]);
  const later = g.op("Greater", [
    g.op("Unsqueeze", [keys, g.ints([0])]),
    g.op("Unsqueeze", [queries, g.ints([1])]),
  ]);
  const mask = g.op("Where", [later, g.float(-1e9), g.float(0)]);

  const rows = g.op("Gather", [g.randomCodes(vocab, d), "input_ids"], { axis: 0 });
  const tokens = g.op("Mul", [g.op("Cast", [rows], { to: elementTypes.float }), g.float(2e-4)]);
  let x = g.op("Add", [tokens, g.op("Gather", [g.randomFloats(positions, d), queries], { axis: 0 })]);

  const toHeads = g.ints([0, 0, heads, dim]);
  const fromHeads = g.ints([0, 0, d]);
  for (let layer = 0; layer < layers; ++layer) {
    const qkv = g.linear(g.layerNorm(x, d), d, 3 * d);
    const [q, k, v] = g
      .ops("Split", [qkv, g.ints([d, d, d])], { axis: 2 }, 3)
      .map((part) => g.op("Transpose", [g.op("Reshape", [part, toHeads])], { perm: [0, 2, 1, 3] }));
    const [allK, allV] = [
      ["key", k],
      ["value", v],
    ].map(([name, fresh]) => {
      const past = `past_key_values.${layer}.${name}`;
      const present = `present.${layer}.${name}`;
      g.inputs.push(value(past, "float", ["batch", heads, "past", dim]));
      g.outputs.push(value(present, "float", ["batch", heads, "total", dim]));
      g.nodes.push({
        opType: "Concat",
        name: present,
        input: [past, fresh],
        output: [present],
        attribute: [{ name: "axis", type: attributeTypes.i, i: 2 }],
      });
      return present;
    });
    const transposed = g.op("Transpose", [allK], { perm: [0, 1, 3, 2] });
    const scores = g.op("Div", [g.op("MatMul", [q, transposed]), g.float(Math.sqrt(dim))]);
    const weights = g.op("Softmax", [g.op("Add", [scores, mask])], { axis: -1 });
    const mixed = g.op("Transpose", [g.op("MatMul", [weights, allV])], { perm: [0, 2, 1, 3] });
    x = g.op("Add", [x, g.linear(g.op("Reshape", [mixed, fromHeads]), d, d)]);
    const hidden = g.gelu(g.linear(g.layerNorm(x, d), d, 4 * d));
    x = g.op("Add", [x, g.linear(hidden, 4 * d, d)]);
  }
  const logits = g.matmul(g.layerNorm(x, d), d, vocab);
  g.nodes.push({ opType: "Identity", name: "logits", input: [logits], output: ["logits"], attribute: [] });
  g.outputs.unshift(value("logits", "float", ["batch", "length", vocab]));
  return g;
}

/** Writes a folder that transformers.js loads with dtype q8. `peers` is where its packages are installed. */
export function writeOnnxFolder(folder, config, peers) {
  const protobuf = createRequire(join(peers, "package.json"))("protobufjs");
  const messages = protobuf.parse(schema).root;
  const g = buildGraph(config);
  const model = {
    irVersion: 8,
    producerName: "gpt2-wasm benchmark",
    graph: { name: "gpt2", node: g.nodes, initializer: g.initializers, input: g.inputs, output: g.outputs },
    opsetImport: [{ domain: "", version: 17 }],
  };
  mkdirSync(join(folder, "onnx"), { recursive: true });
  const bytes = messages.lookupType("Model").encode(messages.lookupType("Model").fromObject(model)).finish();
  writeFileSync(join(folder, "onnx/model_quantized.onnx"), bytes);
  writeFileSync(
    join(folder, "config.json"),
    JSON.stringify({ ...config, architectures: ["GPT2LMHeadModel"], n_ctx: config.n_positions }),
  );
  writeFileSync(
    join(folder, "generation_config.json"),
    JSON.stringify({ eos_token_id: config.eos_token_id }),
  );
}
