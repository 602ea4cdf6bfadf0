// The header of a safetensors file, which precedes its tensors and lists their places.

/** Bytes that state the length of the rest of the header. */
export const lengthBytes = 8;

/** The size of the header in bytes, from the file's first bytes. */
export function headSize(bytes: Uint8Array): number {
  if (bytes.length < lengthBytes) return lengthBytes;
  return lengthBytes + Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
}

/** Whether a file's first bytes contain the whole header. */
export const isWholeHead = (bytes: Uint8Array) => bytes.length >= headSize(bytes);

/** The header among a file's first bytes. */
export const headOf = (bytes: Uint8Array) => bytes.subarray(0, headSize(bytes));

export interface TensorPlace {
  name: string;
  /** Byte offset in the file. */
  start: number;
  end: number;
}

/** The tensors of a header that a converter has accepted, in the order of the file. */
export function tensorsOf(head: Uint8Array): TensorPlace[] {
  const header = JSON.parse(new TextDecoder().decode(head.subarray(lengthBytes))) as Record<
    string,
    { data_offsets?: [number, number] }
  >;
  const tensors: TensorPlace[] = [];
  for (const [name, { data_offsets: offsets }] of Object.entries(header)) {
    if (offsets && name !== "__metadata__")
      tensors.push({ name, start: head.length + offsets[0], end: head.length + offsets[1] });
  }
  return tensors.sort((a, b) => a.start - b.start || a.end - b.end);
}
