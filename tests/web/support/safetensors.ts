// safetensors files, taken apart and put together.
export interface Tensor {
  dtype: string;
  shape: number[];
  bytes: Buffer;
}

export function readSafetensors(file: Buffer): Map<string, Tensor> {
  const length = Number(file.readBigUInt64LE());
  const header = JSON.parse(file.toString("utf8", 8, 8 + length)) as Record<
    string,
    { dtype: string; shape: number[]; data_offsets: [number, number] }
  >;
  const data = file.subarray(8 + length);
  const entries = Object.entries(header).filter(([name]) => name !== "__metadata__");
  return new Map(
    entries.map(([name, { dtype, shape, data_offsets }]) => [
      name,
      { dtype, shape, bytes: data.subarray(...data_offsets) },
    ]),
  );
}

/** A file of `tensors`, in their order. */
export function writeSafetensors(tensors: ReadonlyMap<string, Tensor>): Buffer {
  let end = 0;
  const entries = [...tensors].map(([name, { dtype, shape, bytes }]) => {
    const begin = end;
    end += bytes.length;
    return [name, { dtype, shape, data_offsets: [begin, end] }];
  });
  const header = Buffer.from(
    JSON.stringify({ __metadata__: { format: "pt" }, ...Object.fromEntries(entries) }),
  );
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  return Buffer.concat([length, header, ...[...tensors.values()].map(({ bytes }) => bytes)]);
}
