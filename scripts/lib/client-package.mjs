// dist/client: the client of the interface as a package of npm, one module with its types.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inProject, packageOf } from './bundle.mjs';
import { definitions } from './identity.mjs';
import { noticesOf } from './licenses.mjs';
import { root } from './project.mjs';

const sources = join(root, 'src', 'client-package');
const folder = join(root, 'dist', 'client');

/** Writes the package. Resolves to the paths in the project of the files that it is made from. */
export async function buildClientPackage() {
  const { rolldown } = await import('rolldown');
  const { isolatedDeclarationSync } = await import('rolldown/experimental');
  const { clientTypes } = await import('./client-types.ts');
  const build = await rolldown({
    cwd: root,
    input: join(sources, 'index.ts'),
    platform: 'node',
    tsconfig: false,
    transform: { target: 'node22.19', define: definitions() },
  });
  const { output } = await build.generate({ format: 'esm', comments: false, codeSplitting: false });
  const read = (await build.watchFiles).map(inProject).filter(file => !file.includes('\0'));
  await build.close();
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'index.js'), output[0].code);
  const declared = isolatedDeclarationSync('index.ts', readFileSync(join(sources, 'index.ts'), 'utf8'), {});
  if (declared.errors.length > 0) throw new Error(declared.errors.map(({ message }) => message).join('\n'));
  writeFileSync(join(folder, 'index.d.ts'), declared.code.replaceAll('./operations.ts', './operations.js'));
  writeFileSync(join(folder, 'operations.d.ts'), clientTypes());
  const { version, license, author, engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const description = JSON.parse(readFileSync(join(sources, 'package.json'), 'utf8'));
  const manifest = { ...description, version, license, author, engines };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  copyFileSync(join(sources, 'README.md'), join(folder, 'README.md'));
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  const packages = [...new Set(read.map(packageOf).filter(name => name !== null))].sort();
  writeFileSync(join(folder, 'licenses.txt'), noticesOf(packages.map(path => join(root, path))));
  const more = ['README.md', 'package.json', 'operations.ts'].map(name => `src/client-package/${name}`);
  return [...read, ...more, 'scripts/lib/client-package.mjs', 'scripts/lib/client-types.ts'];
}
