/** What a killed daemon leaves of uploads, and what the next start makes of it. */
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openBlobs } from '../../daemon/blobs/blobs.ts';
import { spawnDaemon } from '../support/daemon-process.ts';
import { filesIn, sha256 } from '../support/forms.ts';
import { beginUpload, block, MiB } from '../support/sending.ts';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'devmgr-crash-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

describe('a daemon that is killed', () => {
  it('has every upload it acknowledged, and nothing of the one that was arriving', async () => {
    const first = await spawnDaemon({ home });
    const whole = beginUpload(first, '1.0.0', { size: 2 * MiB });
    await whole.file(2 * MiB);
    whole.end();
    const { data } = (await whole.answered) as { data: { versionId: string; sha256: string } };
    const half = beginUpload(first, '2.0.0', { size: 8 * MiB });
    await half.file(4 * MiB);
    await expect.poll(() => filesIn({ home })).toHaveLength(2);
    await first.kill();
    expect(await filesIn({ home })).toHaveLength(2);

    const second = await spawnDaemon({ home });
    try {
      expect(await filesIn({ home })).toHaveLength(1);
      expect(second.output()).toContain('removed 1 unfinished upload');
      const response = await fetch(`${second.url}/api/app-versions/${data.versionId}/download`, {
        headers: { authorization: `Bearer ${second.token}` },
      });
      expect(sha256(new Uint8Array(await response.arrayBuffer()))).toBe(data.sha256);
      const again = beginUpload(second, '2.0.0', { size: block.length });
      await again.file(block.length);
      again.end();
      expect(await again.answered).toMatchObject({ code: 200 });
    } finally {
      await second.stop();
    }
  });
});

describe('the sweep at a start', () => {
  const receive = async (dir: string, content: string) => {
    const blobs = await openBlobs(dir);
    const staged = await blobs.receive(Readable.from([Buffer.from(content)]), 100);
    return staged.keep();
  };

  it('removes kept files that no record knows, and leaves those that one does', async () => {
    const dir = join(home, 'blobs');
    const names = await Promise.all(Array.from({ length: 12 }, (_, i) => receive(dir, `content ${i}`)));
    const known = new Set(names.slice(0, 7));
    const notices: string[] = [];
    const blobs = await openBlobs(dir, { notice: message => notices.push(message) });
    await blobs.sweep(async asked => new Set(asked.filter(name => known.has(name))));
    expect((await readdir(dir)).filter(name => name !== 'incoming').sort()).toEqual([...known].sort());
    expect(notices).toEqual([expect.stringContaining('removed 5 unfinished uploads')]);
  });

  it('leaves alone what is none of its own', async () => {
    const dir = join(home, 'blobs');
    await mkdir(join(dir, 'notes'), { recursive: true });
    await writeFile(join(dir, 'README'), 'mine');
    const blobs = await openBlobs(dir);
    await blobs.sweep(async () => new Set());
    expect((await readdir(dir)).sort()).toEqual(['README', 'incoming', 'notes']);
  });
});

describe('a file that was put aside', () => {
  it('is gone when it is discarded, and stays when it has been kept', async () => {
    const dir = join(home, 'blobs');
    const blobs = await openBlobs(dir);
    const staged = await blobs.receive(Readable.from([Buffer.from('abc')]), 3);
    expect(staged).toMatchObject({ size: 3, sha256: sha256('abc') });
    const name = await staged.keep();
    await staged.discard();
    const kept = await blobs.read(name, 3);
    await kept.verify(sha256('abc'));
    await kept.close();

    const other = await blobs.receive(Readable.from([Buffer.from('abc')]), 3);
    await other.discard();
    await other.discard();
    expect(await filesIn({ home })).toEqual([join(dir, name)]);
  });

  it('is refused past its limit, and gone', async () => {
    const blobs = await openBlobs(join(home, 'blobs'));
    const pieces = [Buffer.from('ab'), Buffer.from('cd')];
    await expect(blobs.receive(Readable.from(pieces), 3)).rejects.toMatchObject({ problem: 'too-large' });
    expect(await filesIn({ home })).toEqual([]);
  });
});
