import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PCSC_TRANSPORTS } from '../support/pcsc-transports.ts';
import { type Pcscd, startPcscd, withPcscd } from '../support/pcscd.ts';
import { silentFrom, uicc } from '../support/vcard.ts';

const module = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);

/**
 * A separate process that runs the driver over the transport that is its argument, prints each status and key event, and ends after
 * input.
 */
const PROGRAM = `
  const { createPcscDriver, endProcess } = await import(${module('../../drivers/index.ts')});
  const { PCSC_TRANSPORTS } = await import(${module('../support/pcsc-transports.ts')});
  const [, load] = PCSC_TRANSPORTS.find(([name]) => name === process.argv[1]);
  const driver = createPcscDriver({ load, deadline: 300, retryService: { first: 50, most: 100 } });
  const print = () => console.log(driver.status().state + ' ' + driver.status().detail);
  await driver.start(event => (event.kind === 'status' ? print() : console.log(event.kind, event.key.problem)));
  console.log('started');
  process.stdin.once('data', async () => {
    await driver.stop();
    endProcess(3);
  });
`;

function run(transport: string, command: readonly string[], env: Readonly<Record<string, string>>) {
  const [file = '', ...args] = [...command, process.execPath, '--input-type=module', '--eval', PROGRAM, transport];
  const child = spawn(file, args, { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'pipe'] });
  const lines: string[] = [];
  const out = createInterface(child.stdout);
  out.on('line', line => lines.push(line));
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  return {
    child,
    errors: () => errors,
    async prints(what: RegExp) {
      while (!lines.some(line => what.test(line))) await once(out, 'line');
    },
    async end() {
      child.stdin.end('\n');
      const [status] = (await once(child, 'exit')) as [number | null];
      return status;
    },
  };
}

withPcscd('a process with the PC/SC driver', () => {
  let pcscd: Pcscd;
  beforeAll(async () => {
    pcscd = await startPcscd();
  });
  afterAll(() => pcscd.stop());

  describe.each(PCSC_TRANSPORTS)('through %s', transport => {
    it('ends with its own status while a card does not answer', async () => {
      const program = run(transport, [], pcscd.env);
      await program.prints(/^started/);
      const card = await pcscd.insert(silentFrom('00A4', uicc({ iccid: '8986000000000001232' })));
      await program.prints(/^attached The card does not answer/);
      expect(await program.end()).toBe(3);
      await card.remove();
    });

    it('ends with its own status, and without errors on stderr, after the service died', async () => {
      const program = run(transport, [], pcscd.env);
      await program.prints(/^ready Watching the readers/);
      await pcscd.halt();
      await program.prints(/^unavailable pcscd/);
      await pcscd.start();
      await program.prints(/^ready/);
      expect(await program.end()).toBe(3);
      expect(program.errors()).toBe('');
    });

    it('starts without libpcsclite1, names the package, and finds the library after it was installed', async () => {
      const library = findLibrary();
      // In the mount namespace of the process the library is an empty file until it is unmounted there.
      const hide = [
        'unshare',
        ...asRoot(),
        '--mount',
        'sh',
        '-c',
        `mount --bind /dev/null ${library} && exec "$0" "$@"`,
      ];
      const program = run(transport, hide, pcscd.env);
      await program.prints(/^unavailable .*apt-get install libpcsclite1/);
      await program.prints(/^started/);
      const inside = [
        '--mount',
        '--target',
        String(program.child.pid),
        ...(asRoot().length ? ['--user', '--preserve-credentials'] : []),
      ];
      await once(spawn('nsenter', [...inside, 'umount', library], { stdio: 'inherit' }), 'exit');
      await program.prints(/^ready Watching the readers/);
      expect(await program.end()).toBe(3);
    });
  });
});

function asRoot(): string[] {
  return process.getuid?.() === 0 ? [] : ['--map-root-user'];
}

function findLibrary(): string {
  for (const folder of ['/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu', '/usr/lib64', '/usr/lib']) {
    try {
      if (readdirSync(folder).includes('libpcsclite.so.1')) return `${folder}/libpcsclite.so.1`;
    } catch {
      // The folder does not exist on this machine.
    }
  }
  throw new Error('libpcsclite.so.1 is not installed');
}
