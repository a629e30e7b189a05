/** Debian's fido2-tools and python3-fido2 use the emulated authenticator over the kernel's hidraw, and verify what it attests. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Bench } from '../harness.ts';
import { AAGUID } from '../key-models.ts';

const ROOT = '/tmp/root.der';
const PYTHON = fileURLToPath(new URL('../judges.py', import.meta.url));

/** Runs a program to its end: what it printed. Fails if it fails. */
async function run(command: string, args: readonly string[], input = ''): Promise<string> {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stdin.end(input);
  const [code, signal] = await once(child, 'close');
  assert.equal(code ?? signal, 0, `${command} ${args.join(' ')}`);
  return output;
}

const bench = new Bench();
writeFileSync(ROOT, await bench.root('fido'));
/** The node of the key that was just plugged in, as fido2-token lists it. */
async function listed(product: string): Promise<string> {
  while (readdirSync('/dev').every(name => !name.startsWith('hidraw')));
  await run('udevadm', ['settle']);
  const list = await run('fido2-token', ['-L']);
  const line = list.split('\n').find(one => one.endsWith(`: vendor=0x096e, product=${product} (Feitian ePass FIDO2)`));
  assert.ok(line, list);
  return line.slice(0, line.indexOf(':'));
}

const { id } = await bench.plug({ model: 'judged', serial: 'FT-0001' });
const node = await listed('0x085d');
const info = await run('fido2-token', ['-I', node]);
assert.match(info, new RegExp(`^aaguid: ${AAGUID.replaceAll('-', '')}$`, 'm'));
assert.match(info, /^version strings: U2F_V2, FIDO_2_0$/m);
console.log('  fido2-token lists the key and reads its AAGUID');

const hash = Buffer.from(Array.from({ length: 32 }, (_, i) => i)).toString('base64');
const parameters = [hash, 'devmgr.invalid', 'lab', Buffer.of(0).toString('base64')].join('\n');
const [credential] = await Promise.all([run('fido2-cred', ['-M', node], `${parameters}\n`), bench.touch(id)]);
assert.equal(credential.split('\n')[2], 'packed');
await run('fido2-cred', ['-V'], credential);
const forged = credential.replace(hash, Buffer.alloc(32).toString('base64'));
await assert.rejects(run('fido2-cred', ['-V'], forged), /fido2-cred -V/);
console.log(
  '  fido2-cred makes a credential after a touch and verifies its attestation, and not for another challenge',
);

const [verified] = await Promise.all([run('python3', [PYTHON, ROOT]), bench.touch(id).then(() => bench.touch(id))]);
assert.equal(verified, 'verified\n');
console.log('  python3-fido2 verifies CTAP2 and U2F attestations up to the root, and saw one keepalive for the touch');

await bench.unplug(id);

const issued = await bench.plug({ model: 'managed', serial: 'FT-0002' });
const key = await listed('0x085c');
const [PIN, NEXT] = ['481516', '27182818'];
assert.match(await run('fido2-token', ['-I', key]), /^options: .*credMgmt, authnrCfg, noclientPin/m);
await run('fido2-token', ['-S', key], `${PIN}\n${PIN}\n`);
await run('fido2-token', ['-S', '-l', '8', key], `${PIN}\n`);
const ruled = await run('fido2-token', ['-I', key]);
assert.match(ruled, /^options: .*authnrCfg, clientPin/m);
assert.match(ruled, /^minpinlen: 8$/m);
assert.match(ruled, /^pin change required: true$/m);
await assert.rejects(run('fido2-token', ['-C', key], `000000\n${NEXT}\n${NEXT}\n`), /fido2-token -C/);
await run('fido2-token', ['-C', key], `${PIN}\n${NEXT}\n${NEXT}\n`);
const site = [hash, 'login.example', 'ada', Buffer.from('ada').toString('base64')].join('\n');
writeFileSync('/tmp/site', `${site}\n`);
const stored = await run('fido2-cred', ['-M', '-r', '-v', '-i', '/tmp/site', key], `${NEXT}\n`);
const publicKey = await run('fido2-cred', ['-V', '-v'], stored);
writeFileSync('/tmp/key.pem', publicKey.slice(publicKey.indexOf('-----BEGIN')));
assert.match(await run('fido2-token', ['-L', '-r', key], `${NEXT}\n`), / login\.example$/m);
writeFileSync('/tmp/request', `${[hash, 'login.example', stored.split('\n')[4]].join('\n')}\n`);
const signed = await run('fido2-assert', ['-G', '-v', '-i', '/tmp/request', key], `${NEXT}\n`);
await run('fido2-assert', ['-V', '-p', '-v', '/tmp/key.pem', 'es256'], signed);
await run('fido2-token', ['-R', key]);
assert.match(await run('fido2-token', ['-I', key]), /^options: .*authnrCfg, noclientPin/m);
console.log(
  '  fido2-token sets and changes a PIN and its rules, lists a credential that signs in with it, and resets the key',
);

await bench.unplug(issued.id);
await bench.end();
