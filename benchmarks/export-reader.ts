/** Reads one export to its end. argv: address, token. Writes an `ExportResult`. */
export interface ExportResult {
  readonly devices: number;
  readonly seconds: number;
}

const [url, token] = process.argv.slice(2);
const begun = performance.now();
const response = await fetch(`${url}/api/devices/export`, { headers: { authorization: `Bearer ${token}` } });
let last = '';
for await (const chunk of response.body!) last = (last + Buffer.from(chunk).toString('latin1')).slice(-100);
const { end, count } = JSON.parse(last.trimEnd().split('\n').at(-1)!) as { end: boolean; count: number };
if (!end) throw new Error('the export is incomplete');
process.stdout.write(JSON.stringify({ devices: count, seconds: (performance.now() - begun) / 1000 }));
