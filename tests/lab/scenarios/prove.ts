/** A YubiKey 5.7.4 is plugged in and proves its serial number by SCP11b: how long after the kernel listed it the verdict is there. */
import assert from 'node:assert/strict';
import { createHidDriver } from '../../../drivers/hid/index.ts';
import { createPcscDriver } from '../../../drivers/pcsc/index.ts';
import { asking, judged } from '../../support/proof-requests.ts';
import { Bench, DriverEvents } from '../harness.ts';
import { listedAt, summary } from '../kernel.ts';

const PROOFS = Number(process.argv[2] ?? 20);
const SERIAL = '12345678';

const pcsc = createPcscDriver();
const hid = createHidDriver({ keyCards: pcsc.keyCards });
const bench = new Bench();
const events = new DriverEvents(hid, pcsc);
await events.start();

const times: number[] = [];
for (let proof = 0; proof < PROOFS; proof += 1) {
  const from = events.all.length;
  const { id } = await bench.plug({ model: 'yubikey574' });
  const { key } = await events.until('the key', one => one.kind === 'attached', from, 30_000);
  const asked = asking({}, SERIAL, 'scp11b');
  const evidence = await hid.prove(key.keyId, asked.request, {
    signal: AbortSignal.timeout(20_000),
    onTouch: () => assert.fail('a touch was asked for'),
  });
  assert.ok(evidence.method === 'scp11b');
  // The root is inside the emulated key: the certificate below it is the anchor.
  const anchor = { der: evidence.chain[0]!, fingerprint: 'lab', label: 'lab', purpose: 'scp11b', aaguids: [] } as const;
  const question = { ...asked.question, trust: { ...asked.question.trust, anchors: [anchor] } };
  const { proof: verdict } = judged(evidence, { ...asked, question });
  const at = performance.timeOrigin + performance.now();
  assert.deepEqual([verdict.grade, verdict.serial], ['unit', SERIAL], verdict.warnings.join(' '));
  times.push(at - listedAt({ vendorId: '1050', productId: '0406', serial: null })!);
  await bench.unplug(id);
  await events.until('its unplugging', one => one.kind === 'detached' && one.key.keyId === key.keyId, from);
}
console.log(`  ${summary('verdict after the kernel listed the key', times)}`);
await Promise.all([hid.stop(), pcsc.stop()]);
bench.end();
