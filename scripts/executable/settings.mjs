// What Node's single-executable build is given for a platform: the runtime, the script and the files in it.
import { readdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { build, fontFile, swaggerFiles } from '../build.mjs';
import { licensesOfAll } from '../lib/licenses-of-all.mjs';
import { fail, modules, node, root, say } from '../lib/project.mjs';
import { fileOf } from './fetch.mjs';
import { scriptOf } from './script.mjs';
import { ownPlatform, partsOf } from './targets.mjs';

const require = createRequire(join(modules, 'x'));

/** Files that the program reads, beside those of the build. */
const packaged = [
  'assets/common-passwords.txt',
  'packaging/udev/70-devmgr.rules',
  'packaging/polkit/50-devmgr.rules',
  'packaging/systemd/devmgr-user.service',
];

/** The native modules, by their name in the executable, and the packages that it does without. */
async function nativesOf(platform) {
  const natives = {};
  // Of PC/SC it calls the library of the system.
  const absent = ['pcsc-mini'];
  for (const [name, part] of Object.entries(partsOf(platform).natives)) {
    const file = await fileOf(part);
    if (file !== null) natives[name] = file;
    else {
      absent.push(name === 'keyring' ? '@napi-rs/keyring' : name);
      say(`npm has no ${part[0]}: the executable will do without ${name}, and say so`);
    }
  }
  return { natives, absent };
}

/** The settings but for the output. Its own files are in the folder `working`. */
export async function settingsOf(platform, working) {
  const { natives, absent } = await nativesOf(platform);
  const runtime = platform === ownPlatform ? node : await fileOf(partsOf(platform).node);
  if (runtime === null) fail(`npm has no Node for ${platform}.`, 'There is no executable for this platform.');
  const main = join(working, `${platform}.cjs`);
  // The executable carries the console of the build.
  await build();
  writeFileSync(main, await scriptOf(absent));
  const licenses = join(working, 'licenses.txt');
  writeFileSync(licenses, await licensesOfAll());
  const swagger = dirname(require.resolve('swagger-ui-dist/package.json'));
  const pages = readdirSync(join(root, 'dist/console'));
  const assets = {
    'licenses.txt': licenses,
    [fontFile]: join(root, 'dist', fontFile),
    ...Object.fromEntries(Object.entries(natives).map(([name, file]) => [`native/${name}`, file])),
    ...Object.fromEntries(packaged.map(name => [name, join(root, name)])),
    ...Object.fromEntries(swaggerFiles.map(name => [`swagger-ui/${name}`, join(swagger, name)])),
    ...Object.fromEntries(pages.map(name => [`console/${name}`, join(root, 'dist/console', name)])),
  };
  return {
    main,
    executable: runtime,
    disableExperimentalSEAWarning: true,
    // It belongs to one machine type: a foreign one would be refused at the start.
    useCodeCache: platform === ownPlatform,
    // Options of Node in the environment or on the command line are not the executable's.
    execArgvExtension: 'none',
    assets,
  };
}
