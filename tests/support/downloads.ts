import type { TestDaemon } from './daemon.ts';

export interface Downloaded {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
}

/** A download as the administrator, with the bytes as they come. */
export async function download(
  daemon: TestDaemon,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Downloaded> {
  const response = await fetch(daemon.url + path, {
    headers: { authorization: `Bearer ${daemon.adminToken}`, ...headers },
  });
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
}
