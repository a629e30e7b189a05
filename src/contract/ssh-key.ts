/** Public keys of SSH on security keys, and the files of OpenSSH for them (PROTOCOL.u2f, PROTOCOL.key). */

/** The application of SSH credentials: a relying party that no site can have. */
export const SSH_APPLICATION = 'ssh:';

/** Whether it is a public key of a security key, as `authorized_keys` has it. */
export const isSshKey = (text: string | null): boolean =>
  text?.startsWith('sk-') === true && text.includes('@openssh.com ');

/** Pattern of LIKE for the same. */
export const SSH_KEY_LIKE = 'sk-%@openssh.com %';

/** The type and the key of a line, without options and comment; the line itself if it has no key. */
export function sshKeyIn(line: string): string {
  const words = line.trim().split(/\s+/);
  const at = words.findIndex(word => /^(sk-|ssh-|ecdsa-)/.test(word));
  return at < 0 ? line : words.slice(at, at + 2).join(' ');
}
