import supportsHyperlinks from 'supports-hyperlinks';

/** OSC 8, as in https://gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda: the text between two of them is a link. */
const linkTo = (url: string): string => `\u001B]8;;${url}\u001B\\`;

/** The text with every occurrence of an http address as a link to it, if the terminal on standard output has links. */
export function withLinks(text: string, address: string): string {
  const url = URL.parse(address);
  if (!supportsHyperlinks.stdout || !url || !/^https?:$/.test(url.protocol)) return text;
  // A parsed address has no control characters, which would end the sequence.
  return text.replaceAll(address, () => `${linkTo(url.href)}${address}${linkTo('')}`);
}
