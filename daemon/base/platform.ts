/**
 * In what the systems differ for the daemon: no other file of it asks for the platform. Three differences need no code: on Windows a
 * signal ends a process at once, as a power cut would; an open file cannot be replaced, and a restore is refused while a daemon runs;
 * no two names of files differ by case alone.
 */
export interface PlatformFacts {
  /** The mode of a file decides who can read it. Windows has access lists, which Node cannot read. */
  readonly fileModes: boolean;
  /** Windows has no Unix sockets in Node, and another user could create a named pipe first. */
  readonly unixSockets: boolean;
  /** Longest path of a socket, in bytes without the zero at its end: unix(7) has 108 on Linux, unix(4) 104 on macOS. */
  readonly socketPathBytes: number;
  /** How a file is opened to be flushed. Windows flushes only what may be written; elsewhere a folder can only be read. */
  readonly flushFlag: 'r' | 'r+';
  /** A new name survives a power cut only after its folder is flushed. Windows has no such call and needs none. */
  readonly flushedFolders: boolean;
}

export function platformFacts(platform: NodeJS.Platform): PlatformFacts {
  const windows = platform === 'win32';
  return {
    fileModes: !windows,
    unixSockets: !windows,
    socketPathBytes: platform === 'linux' ? 107 : 103,
    flushFlag: windows ? 'r+' : 'r',
    flushedFolders: !windows,
  };
}

export const thisPlatform = platformFacts(process.platform);
