/** Loaded before a server: on SIGUSR2 writes down for how long its event loop was held at most since the last time. */
import { renameSync, writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

const file = decodeURIComponent(new URL(import.meta.url).search.slice(1));
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
process.on('SIGUSR2', () => {
  writeFileSync(`${file}.new`, JSON.stringify({ longest: delay.max / 1e6 }));
  renameSync(`${file}.new`, file);
  delay.reset();
});
