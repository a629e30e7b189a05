/** A program: runs the HID driver and prints each of its events as a line of JSON. Ends when stdin ends. */
import { createHidDriver } from '../../drivers/hid/index.ts';

const print = (line: unknown): void => void process.stdout.write(`${JSON.stringify(line)}\n`);
const match = process.argv.slice(2);
const driver = createHidDriver({ match, notice: (message, detail) => print({ kind: 'notice', message, detail }) });
await driver.start(print);
print({ kind: 'started', keys: driver.keys() });
process.stdin.resume();
process.stdin.once('end', async () => {
  await driver.stop();
  print({ kind: 'stopped', keys: driver.keys(), resources: process.getActiveResourcesInfo() });
});
