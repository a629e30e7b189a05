/** The way of a newcomer on a Debian that has booted, from the package to its purge. What is seen becomes docs/transcript.md. */
import { once } from 'node:events';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Card, Machine } from './machine.ts';
import { next, present } from './packages.ts';
import { inDebian } from './roots.ts';
import { Transcript, typedLines } from './transcript.ts';

const page = join(import.meta.dirname, '../../docs/transcript.md');
/** A zsh on a terminal of its own, in which somebody types `devmgr lo` and TAB. */
const completeInZsh = `
zmodload zsh/zpty
zpty -b shell zsh -f -i
zpty -w shell 'autoload -Uz compinit; compinit -u; zstyle ":completion:*" menu no; PS1=; echo READY'
zpty -r -m shell seen '*READY*READY*'
zpty -w -n shell $'devmgr lo\\t'
zpty -r -m shell seen '*login*'
print -r -- $seen
zpty -d shell
`;
const iccid = '8986000000000001232';

inDebian('a newcomer on Debian without Node', () => {
  let machine: Machine;
  let ada: Transcript;
  let card: Card;
  let watched: () => Promise<string>;

  beforeAll(async () => {
    machine = await Machine.boot();
    for (const { file, name } of [present, next]) copyFileSync(file, join(machine.folder, 'home/ada', name));
    ada = new Transcript(machine);
  });
  afterAll(() => machine?.end());

  const asRoot = async (script: string) => (await machine.run('root', script)).output.trim();

  it('installs the package with what it needs, and nothing of Node', async () => {
    ada.heading('Install', 'No Node and no compiler is on the machine. What the package needs comes from Debian.');
    expect(await ada.type('node --version', { fails: true })).toContain('not found');
    const output = await ada.type(`sudo apt-get install -y ./${present.name}`);
    expect(output).toContain(`Setting up devmgr (${present.version})`);
    expect(output).not.toMatch(/warning:|error/i);
    expect(await ada.type('devmgr --version')).toContain(present.version);
    expect(await asRoot('systemctl is-active devmgr; systemctl is-enabled devmgr')).toBe('inactive\ndisabled');
  });

  it('has units that systemd understands', async () => {
    const verify = 'systemd-analyze verify --man=no --recursive-errors=no';
    expect(await asRoot(`${verify} /usr/lib/systemd/system/devmgr.service`)).toBe('');
    expect(await asRoot(`${verify} /usr/lib/systemd/system/devmgr@.service`)).toBe('');
    expect(await asRoot(`${verify} --user /usr/lib/systemd/user/devmgr.service`)).toBe('');
  });

  it('runs as a service of a user, too', async () => {
    await asRoot('useradd --create-home bob');
    const bob = (script: string) => machine.run('bob', script).then(({ output }) => output);
    expect(await bob('systemctl --user enable --now devmgr')).toContain('Created symlink');
    const answers = 'timeout 30 sh -c "until devmgr daemon status 2>/dev/null; do :; done"';
    expect(await bob(answers)).toContain('http://127.0.0.1:7470');
    await bob('systemctl --user disable --now devmgr');
    expect(await bob('systemctl --user is-active devmgr')).toContain('inactive');
  });

  it('completes in every shell', async () => {
    expect(await asRoot('fish -c "complete -C \'devmgr lo\'"')).toContain('login');
    const bash = '. /usr/share/bash-completion/bash_completion; _completion_loader devmgr; complete -p devmgr';
    expect(await asRoot(`bash -c '${bash}'`)).toContain('_devmgr');
    // The first TAB in a shell that has read nothing of it before.
    const zsh = join(machine.folder, 'root/complete.zsh');
    writeFileSync(zsh, completeInZsh);
    expect(await asRoot('timeout 20 zsh -f complete.zsh')).toMatch(/login/);
  });

  it('starts the service, which keeps itself to what it needs', async () => {
    // A card reader in software, as a real one would be plugged in.
    expect(await asRoot('apt-get install -qq -y vsmartcard-vpcd && systemctl restart pcscd')).not.toMatch(/^E:/m);
    ada.heading(
      'Start the registry',
      'As a service of the machine, because several people will use it; `devmgr quickstart` is the way for one alone.',
    );
    await ada.type('sudo systemctl enable --now devmgr');
    await ada.type('systemctl is-active devmgr');
    expect(await ada.type('systemd-analyze security --no-pager devmgr.service | tail -n 1')).toMatch(
      /level.* [01]\.\d OK/,
    );
    const login = 'devmgr login admin --server http://127.0.0.1:7470 --password-stdin';
    await ada.type(`sudo cat /var/lib/devmgr/initial-admin-password | ${login}`);
    const doctor = await ada.type('devmgr doctor');
    expect(doctor).toMatch(/✓ simkey|✓ pcsc/i);
    expect(doctor).not.toContain('✗');
    expect(await asRoot('stat -c %U /proc/$(systemctl show -p MainPID --value devmgr)')).toBe('devmgr');
    // 127.0.0.1:7470, listening.
    expect(await asRoot('cat /proc/net/tcp')).toContain('0100007F:1D2E 00000000:0000 0A');
  });

  it('enrolls the first key, which the service reads through pcscd as a user without a seat', async () => {
    ada.heading(
      'The first key',
      'At the same time, a second terminal shows what happens; it is at the end of the next part.',
    );
    watched = ada.elsewhere('devmgr watch --count 6');
    const line = 'devmgr enroll --count 1 --timeout 60';
    const enrolled = await ada.typeWhile(
      line,
      () => streams(2),
      'a SIM card is put into the reader',
      async () => {
        card = await Card.insert(machine, iccid);
      },
    );
    expect(enrolled).toContain(`SIMKEY ${iccid}`);
    expect(enrolled).not.toContain('simulated');
    expect(await ada.type('devmgr keys')).toContain(iccid);
  });

  it('activates, locks and unlocks it, and sees each step', async () => {
    ada.heading('Its life', 'A device is named by its id, its serial number, or `--plugged`.');
    const code = await asRoot('runuser -l ada -c "devmgr show DEV-1 --json"').then(
      text => (JSON.parse(text) as { activationCode: string }).activationCode,
    );
    await ada.type(`devmgr activate DEV-1 --code ${code} --user alice`);
    await ada.type('devmgr lock --plugged --reason "left on a train"');
    expect(await ada.type('devmgr list')).toContain('LOCKED');
    await ada.type(`devmgr unlock ${iccid} --note "found again"`);
    expect(await ada.type('devmgr show DEV-1')).toContain('ACTIVE');
    await card.remove();
    const events = await watched();
    for (const words of ['plugged in', 'registered', 'activated', 'locked', 'unlocked'])
      expect(events).toMatch(new RegExp(` ${words}\\b`));
  });

  it('upgrades, and finds the registry as it was, served by the new program', async () => {
    ada.heading('Upgrade', 'The service is restarted with the new version; the registry and the login stay.');
    const before = await asRoot('systemctl show -p MainPID devmgr');
    await ada.type(`sudo apt-get install -y ./${next.name}`);
    await ada.type('systemctl is-active devmgr');
    expect(await asRoot('systemctl show -p MainPID devmgr')).not.toBe(before);
    expect(await ada.type('devmgr list')).toMatch(/DEV-1 .*ACTIVE/);
    expect(await ada.type('sudo -u devmgr devmgr daemon check --home /var/lib/devmgr')).toContain('OK:');
  });

  it('removes the package, and the registry stays', async () => {
    ada.heading('Remove', 'The service ends. The registry stays until the package is purged.');
    await ada.type('sudo apt-get remove -y devmgr');
    expect(await ada.type('systemctl is-active devmgr', { fails: true })).toContain('inactive');
    expect(await ada.type('sudo ls /var/lib/devmgr')).toContain('devmgr.db');
  });

  it('purges it, and nothing stays but the locked account and what is in homes', async () => {
    ada.heading(
      'Purge',
      'What stays is the locked account, so that its number is not given to another, and what is in homes.',
    );
    await ada.type('sudo apt-get purge -y devmgr');
    const find = 'find / -xdev -iname "*devmgr*" -not -path "/home/*" -not -path "/var/cache/*" -not -path "/tmp/*"';
    expect(await ada.type(`sudo ${find}`)).toBe('');
    expect(await ada.type('getent passwd devmgr')).toContain('nologin');
  });

  it('is what docs/transcript.md shows', () => {
    const head = [
      '# From the package to the first key, and back',
      '',
      `A terminal session of ${new Date().toISOString().slice(0, 10)}: devmgr ${present.version} on Debian ${machine.debian},`,
      'booted from what `debootstrap` makes, without a network. The card and its reader are simulated in software (vsmartcard)',
      "behind Debian's own pcscd; the later version is the same program with a higher number. `npm run test:deb`",
      'runs the session again, and with `-- --update` writes this page.',
      '',
      '',
    ].join('\n');
    if (process.env.UPDATE_TRANSCRIPT) writeFileSync(page, head + ada.toString());
    expect(typedLines(readFileSync(page, 'utf8'))).toEqual(typedLines(ada.toString()));
  });

  /** Resolves when that many notification streams are open at the daemon. */
  async function streams(count: number): Promise<void> {
    const script = join(import.meta.dirname, 'streams.ts');
    const child = machine.enterNetwork(process.execPath, script, 'http://127.0.0.1:7470', String(count));
    await once(child, 'exit');
  }
});
