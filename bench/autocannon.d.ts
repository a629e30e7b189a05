declare module 'autocannon' {
  interface Figures {
    readonly requests: { readonly average: number };
    readonly latency: { readonly p50: number; readonly p99: number };
    readonly non2xx: number;
    readonly errors: number;
    readonly timeouts: number;
  }
  export default function autocannon(options: Readonly<Record<string, unknown>>): Promise<Figures>;
}
