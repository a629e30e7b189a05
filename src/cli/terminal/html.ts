/** Text in HTML files that commands write. */

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text for an element or a quoted attribute. Controls are not allowed in HTML, not even as references. */
export const escaped = (text: string): string =>
  text.replace(/\p{Cc}/gu, '\ufffd').replace(/[&<>"']/g, character => entities[character]!);

/** The policy of a page that neither loads nor runs anything. */
export const emptyPolicy = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`;
