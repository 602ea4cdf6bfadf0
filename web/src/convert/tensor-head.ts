// The head of a safetensors file: what lies before its tensors, and says where they are.

/** Bytes that say how long the rest of the head is. */
export const lengthBytes = 8;

/** Bytes before the tensors, as the first of a file say. */
export function headSize(bytes: Uint8Array): number {
  if (bytes.length < lengthBytes) return lengthBytes;
  return lengthBytes + Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
}

/** Whether a file's first bytes are all of its head, at least. */
export const isWholeHead = (bytes: Uint8Array) => bytes.length >= headSize(bytes);

/** Of a file's first bytes those that are its head. */
export const headOf = (bytes: Uint8Array) => bytes.subarray(0, headSize(bytes));

export interface TensorPlace {
  name: string;
  /** In bytes, from the beginning of the file. */
  start: number;
  end: number;
}

/** The tensors of a head that a converter has read, in the order in which they lie in the file. */
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
