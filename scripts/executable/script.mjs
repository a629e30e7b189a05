// The one script of an executable: every part of the program, with the packages that are native modules elsewhere.
import { basename, join } from 'node:path';
import { bundle } from '../lib/bundle.mjs';
import { root } from '../lib/project.mjs';

const native = join(root, 'scripts', 'executable', 'native.ts');
const carried = code => () => `const { loadNative } = require(${JSON.stringify(native)}); ${code}`;

/** Modules that look for a file of a package on disk, and the code that replaces them. */
const replaced = [
  [
    /better-sqlite3\/lib\/index\.js$/,
    carried(
      "module.exports = require('./database')(() => loadNative('better-sqlite3'), false); module.exports.SqliteError = require('./sqlite-error');",
    ),
  ],
  [
    /pkg-prebuilds\/bindings\.js$/,
    carried("module.exports = (_, { name }) => loadNative(name === 'HID_hidraw' ? 'node-hid-hidraw' : 'node-hid');"),
  ],
  [/\/usb\/index\.js$/, carried("module.exports = loadNative('usb');")],
  [/@napi-rs\/keyring\/index\.js$/, carried("module.exports = loadNative('keyring');")],
  // The executable contains no binding of PC/SC: it calls the library of the system.
  [/\/drivers\/pcsc\/library\.ts$/, () => "export { loadPcscFfi as loadPcsc } from './ffi/index.ts';"],
];

/** The text of the script, without the packages `absent`. */
export async function scriptOf(absent) {
  const { files } = await bundle({ external: [], absent, plugins: [replacements()] });
  return inFunctions(files);
}

function replacements() {
  const found = new Set();
  return {
    name: 'replacements',
    load(id) {
      const [pattern, code] = replaced.find(([pattern]) => pattern.test(id.replaceAll('\\', '/'))) ?? [];
      if (pattern === undefined) return undefined;
      found.add(pattern);
      return code();
    },
    buildEnd(error) {
      const [missing] = replaced.find(([pattern]) => !found.has(pattern)) ?? [];
      if (!error && missing) throw new Error(`the program has no module ${missing.source} to replace any more`);
    },
  };
}

/** Each part is a function that runs when the part is first required: what is not required is not even compiled. */
function inFunctions(files) {
  const nameOf = ({ fileName }) => JSON.stringify(basename(fileName));
  const functions = files.map(file => `${nameOf(file)}(exports,require,module){${file.code.replace(/^#!.*/, '')}\n}`);
  return `const parts={${functions.join(',\n')}};
const loaded=new Map();
function load(name){
  const part=basename(name);
  if(!Object.hasOwn(parts,part))return require(name);
  if(!loaded.has(part)){
    const module={exports:{}};
    loaded.set(part,module);
    parts[part](module.exports,load,module);
  }
  return loaded.get(part).exports;
}
function basename(name){return name.slice(name.lastIndexOf('/')+1);}
load("main.cjs");
`;
}
