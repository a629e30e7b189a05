/** Uploads of a daemon that is killed, and the cleanup at the next start. */
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openBlobFolder } from '../../daemon/files/blob-folder.ts';
import { spawnDaemon } from '../support/daemon-process.ts';
import { filesIn, sha256 } from '../support/forms.ts';
import { beginUpload, block, MiB } from '../support/sending.ts';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'devmgr-crash-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

describe('a daemon that is killed', () => {
  it('has every acknowledged upload, and after the next start nothing of an unfinished one', async () => {
    const first = await spawnDaemon({ home });
    const finished = beginUpload(first, '1.0.0', { size: 2 * MiB });
    await finished.file(2 * MiB);
    finished.end();
    const { data } = (await finished.answered) as { data: { versionId: string; sha256: string } };
    const unfinished = beginUpload(first, '2.0.0', { size: 8 * MiB });
    await unfinished.file(4 * MiB);
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
    const blobs = await openBlobFolder(dir);
    const staged = await blobs.receive(Readable.from([Buffer.from(content)]), 100);
    return staged.persist();
  };

  it('removes stored files that no record refers to, and leaves the others', async () => {
    const dir = join(home, 'blobs');
    const names = await Promise.all(Array.from({ length: 12 }, (_, i) => receive(dir, `content ${i}`)));
    const known = new Set(names.slice(0, 7));
    const notices: string[] = [];
    const blobs = await openBlobFolder(dir, { notice: message => notices.push(message) });
    await blobs.sweep(async asked => new Set(asked.filter(name => known.has(name))));
    expect((await readdir(dir)).filter(name => name !== 'incoming').sort()).toEqual([...known].sort());
    expect(notices).toEqual([expect.stringContaining('removed 5 unfinished uploads')]);
  });

  it('leaves other files and folders alone', async () => {
    const dir = join(home, 'blobs');
    await mkdir(join(dir, 'notes'), { recursive: true });
    await writeFile(join(dir, 'README'), 'mine');
    const blobs = await openBlobFolder(dir);
    await blobs.sweep(async () => new Set());
    expect((await readdir(dir)).sort()).toEqual(['README', 'incoming', 'notes']);
  });
});

describe('a staged file', () => {
  it('is removed by discard, unless it has been stored', async () => {
    const dir = join(home, 'blobs');
    const blobs = await openBlobFolder(dir);
    const staged = await blobs.receive(Readable.from([Buffer.from('abc')]), 3);
    expect(staged).toMatchObject({ size: 3, sha256: sha256('abc') });
    const name = await staged.persist();
    await staged.discard();
    const stored = await blobs.read(name, 3, sha256('abc'));
    await stored.close();

    const other = await blobs.receive(Readable.from([Buffer.from('abc')]), 3);
    await other.discard();
    await other.discard();
    expect(await filesIn({ home })).toEqual([join(dir, name)]);
  });

  it('is refused and removed if it exceeds the limit', async () => {
    const blobs = await openBlobFolder(join(home, 'blobs'));
    const pieces = [Buffer.from('ab'), Buffer.from('cd')];
    await expect(blobs.receive(Readable.from(pieces), 3)).rejects.toMatchObject({ problem: 'too-large' });
    expect(await filesIn({ home })).toEqual([]);
  });
});
