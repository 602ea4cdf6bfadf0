// Numbers as people read them.

export function formatCount(count: number): string {
  if (count >= 1e9) return `${(count / 1e9).toFixed(2)} billion`;
  return `${(count / 1e6).toFixed(count < 1e7 ? 1 : 0)} million`;
}

export function formatMs(ms: number): string {
  return ms < 1000 ? `${ms.toFixed(0)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

export function formatRate(tokensPerSecond: number): string {
  return `${tokensPerSecond.toFixed(tokensPerSecond < 10 ? 1 : 0)} tokens/s`;
}
