/** The files of Swagger UI, from the package that lies beside the program. Nothing is fetched from anywhere. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Names of the files that the page uses, and their media types. */
export const assetTypes = {
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui.css': 'text/css; charset=utf-8',
  'favicon-32x32.png': 'image/png',
  'favicon-16x16.png': 'image/png',
} as const;
export type AssetName = keyof typeof assetTypes;

export interface Asset {
  readonly content: Buffer;
  /** Changes whenever the content can have changed. */
  readonly version: string;
}

/** The only way to the files: a build that carries them inside itself replaces this function. */
export async function readAsset(name: AssetName): Promise<Asset> {
  const manifest = packageManifest();
  const { version } = JSON.parse(await readFile(manifest, 'utf8')) as { version: string };
  return { content: await readFile(join(dirname(manifest), name)), version };
}

/** Looked for at the first request: the program runs without the package as long as nobody asks for the page. */
function packageManifest(): string {
  return createRequire(import.meta.url).resolve('swagger-ui-dist/package.json');
}
