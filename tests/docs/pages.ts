import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The pages that are written by hand, as paths in the project. */
export function pagesOf(root: string): string[] {
  const markdownIn = (folder: string) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter(name => name.endsWith('.md'))
      .map(name => join(folder, name).replaceAll('\\', '/'));
  return ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...markdownIn('docs')];
}

/** The TypeScript files below a folder. */
export function sourcesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts'))
    .map(name => join(folder, name));
}
