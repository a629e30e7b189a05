/** `streams.ts URL COUNT`: ends when that many notification streams are open at the daemon. Runs in the daemon's network. */
const [url, count] = process.argv.slice(2);
const wanted = Number(count);
let open: number;
do {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  open = Number(/^devmgr_streams\{.*\} (\d+)/m.exec(metrics)?.[1] ?? 0);
} while (open < wanted);
