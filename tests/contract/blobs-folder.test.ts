import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { openBlobFolder } from '../../daemon/files/blob-folder.ts';
import { blobRules } from './blobs.ts';

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

blobRules(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'devmgr-blobs-'));
  folders.push(folder);
  const namesIn = async (dir: string) =>
    (await readdir(dir, { withFileTypes: true })).filter(entry => entry.isFile()).map(entry => entry.name);
  return {
    blobs: await openBlobFolder(folder),
    contents: async () => [...(await namesIn(folder)), ...(await namesIn(join(folder, 'incoming')))],
    damage: (name, content) => writeFile(join(folder, name), content),
  };
});
