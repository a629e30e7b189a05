/** Sends one upload and writes how long it took and what was answered. Reads an `UploadOrder` from argv. */
import { request } from 'node:http';

export interface UploadOrder {
  readonly url: string;
  readonly token: string | null;
  /** Bytes, a multiple of a MiB. */
  readonly bytes: number;
  /** Version to upload as; null sends the file as a raw body. */
  readonly version: string | null;
}

export interface UploadResult {
  readonly seconds: number;
  readonly status: number;
  readonly fileSize: number;
  readonly sha256: string;
}

const MiB = 1024 * 1024;
const order = JSON.parse(process.argv[2]!) as UploadOrder;
const boundary = 'bench-boundary';
const field = (name: string, value: string) =>
  `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const [head, tail] =
  order.version === null
    ? ['', '']
    : [
        `${field('platform', 'LINUX')}${field('version', order.version)}--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="bench.deb"\r\nContent-Type: application/octet-stream\r\n\r\n`,
        `\r\n--${boundary}--\r\n`,
      ];
// Each upload has this content, which does not compress.
const block = Buffer.alloc(MiB);
for (let i = 0, x = 1; i < MiB; i += 4) {
  x = (Math.imul(x, 1_664_525) + 1_013_904_223) >>> 0;
  block.writeUInt32LE(x, i);
}

const begun = performance.now();
const upload = request(`${order.url}/api/app-versions/upload`, {
  method: 'POST',
  headers: {
    'content-type': order.version === null ? 'application/octet-stream' : `multipart/form-data; boundary=${boundary}`,
    'content-length': head.length + order.bytes + tail.length,
    ...(order.token ? { authorization: `Bearer ${order.token}` } : {}),
  },
});
const answered = new Promise<{ status: number; text: string }>((resolve, reject) => {
  upload.on('error', reject);
  upload.on('response', async response => {
    let text = '';
    for await (const chunk of response) text += chunk;
    resolve({ status: response.statusCode!, text });
  });
});
upload.write(head);
for (let sent = 0; sent < order.bytes; sent += MiB)
  if (!upload.write(block)) await new Promise(resolve => upload.once('drain', resolve));
upload.end(tail);
const { status, text } = await answered;
const seconds = (performance.now() - begun) / 1000;
const { data } = JSON.parse(text) as { data: { fileSize: number; sha256: string } | null };
const result: UploadResult = { seconds, status, fileSize: data?.fileSize ?? 0, sha256: data?.sha256 ?? '' };
process.stdout.write(JSON.stringify(result));
