/** The files of Swagger UI. */
import { type CarriedFolder, readCarried } from '../../carried-files.ts';

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
interface Asset {
  readonly content: Buffer;
  /** Version of the package; the content changes only with it. */
  readonly version: string;
}

/** For the sources, the package itself. */
const folder: CarriedFolder = {
  name: 'swagger-ui',
  places: ['swagger-ui', 'node_modules/swagger-ui-dist'],
  holds: 'package.json',
  contents: 'Swagger UI',
};

/** Rejects if this copy of the program has no Swagger UI. */
export async function readAsset(name: AssetName): Promise<Asset> {
  const { version } = JSON.parse((await readCarried(folder, 'package.json')).toString()) as { version: string };
  return { content: await readCarried(folder, name), version };
}
