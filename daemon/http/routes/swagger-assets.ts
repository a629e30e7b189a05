/** The files of Swagger UI, which come with the program. Nothing is fetched from a network. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { getRawAsset, isSea } from 'node:sea';

/** The files that the page uses, and their media types. */
export const assetTypes = {
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui.css': 'text/css; charset=utf-8',
  'favicon-32x32.png': 'image/png',
  'favicon-16x16.png': 'image/png',
} as const;
/** Name of one of these files. */
export type AssetName = keyof typeof assetTypes;

/** A file of Swagger UI. */
export interface Asset {
  readonly content: Buffer;
  /** Version of the package; the content changes only with it. */
  readonly version: string;
}

/** Rejects if this copy of the program has no Swagger UI. */
export async function readAsset(name: AssetName): Promise<Asset> {
  const { version } = JSON.parse((await readCarried('package.json')).toString()) as { version: string };
  return { content: await readCarried(name), version };
}

/** The single executable contains the files; otherwise they are in a folder. */
async function readCarried(name: AssetName | 'package.json'): Promise<Buffer> {
  return isSea() ? Buffer.from(getRawAsset(`swagger-ui/${name}`)) : readFile(join(assetFolder(), name));
}

/** In the build a folder beside its parts; for the sources, the package itself. */
const places = ['swagger-ui', 'node_modules/swagger-ui-dist'];

/** Searched for at the first request: the rest of the program runs without the files. */
function assetFolder(): string {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    const found = places.map(place => join(folder, place)).find(place => existsSync(join(place, 'package.json')));
    if (found !== undefined) return found;
    if (dirname(folder) === folder) throw new Error('this copy of the program came without Swagger UI');
  }
}
