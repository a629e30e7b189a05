import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { copy } from '../../daemon/maintenance/copy.ts';
import { check } from '../../daemon/maintenance/maintenance.ts';
import { isBlobName } from '../../daemon/requests/blobs.ts';
import { spawnDaemon, uploadApp } from '../support/daemon-process.ts';
import { runDaemonProgram } from '../support/programs.ts';
import { type Swift, startSwift, withSwift } from '../support/swift.ts';
import { temporaryFolder } from '../support/temporary.ts';

withSwift('daemon copy with files', () => {
  let swift: Swift;
  beforeAll(async () => {
    swift = await startSwift();
  });
  afterAll(() => swift.stop());

  it('copies them to an object store and back under the same names, and refuses a source that lacks one', async () => {
    const home = temporaryFolder();
    const daemon = await spawnDaemon({ home });
    await uploadApp(daemon, '1.0.0');
    await uploadApp(daemon, '1.0.1');
    await daemon.stop();
    const { bucket, prefix } = await swift.bucket();
    const place = `s3://${bucket}/${prefix}?endpoint=${swift.endpoint}`;
    const blobs = () => readdirSync(join(home, 'blobs')).filter(isBlobName).sort();
    const names = blobs();
    const run = (from: string, to: string, filesFrom: string, filesTo: string) =>
      runDaemonProgram(copy, { home, json: false, from, to, filesFrom, filesTo }, swift.env);
    const copied = join(home, 'copy.db');
    expect(await run('sqlite:', `sqlite:${copied}`, 'file:', place)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(', 2 files'),
    });
    for (const name of names) rmSync(join(home, 'blobs', name));
    expect(await run('sqlite:', `sqlite:${join(home, 'other.db')}`, 'file:', place)).toMatchObject({ code: 0 });
    expect(await run(`sqlite:${copied}`, `sqlite:${join(home, 'back.db')}`, place, 'file:')).toMatchObject({ code: 0 });
    expect(blobs()).toEqual(names);
    expect(await runDaemonProgram(check, { home, json: false }, {})).toMatchObject({ code: 0 });
    rmSync(join(home, 'blobs', names[0]!));
    const [elsewhere, lacking] = [await swift.bucket(), `sqlite:${join(home, 'lacking.db')}`];
    expect(
      await run('sqlite:', lacking, 'file:', `s3://${elsewhere.bucket}/${elsewhere.prefix}?endpoint=${swift.endpoint}`),
    ).toMatchObject({ code: 1, stderr: expect.stringMatching(/the file of \S+ cannot be copied: .*is missing/) });
  });
});
