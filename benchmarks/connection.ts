/** One HTTP connection on a bare socket: nothing of an answer is read but its status, its length and, where asked for, its body. */
import { connect, type Socket } from 'node:net';

export interface Answer {
  readonly status: number;
  /** Milliseconds from the request to the last byte of its answer. */
  readonly ms: number;
  /** Empty unless the connection keeps bodies. */
  readonly body: string;
}

const endOfHead = Buffer.from('\r\n\r\n');

/** Sends one request at a time. Broken connections and answers without a length go to `failed`. */
export class Connection {
  /** Whether bodies are read. */
  keepsBodies = false;
  readonly #socket: Socket;
  #answered: ((answer: Answer) => void) | null = null;
  #sent = 0;
  #head: Buffer = Buffer.alloc(0);
  #status = 0;
  #missing = -1;
  #body: Buffer[] = [];

  constructor(url: string, failed: (error: Error) => void) {
    const { hostname, port } = new URL(url);
    this.#socket = connect(Number(port), hostname);
    this.#socket.setNoDelay(true);
    this.#socket.on('data', (chunk: Buffer) => (this.#missing < 0 ? this.#takeHead(chunk) : this.#takeBody(chunk)));
    this.#socket.on('error', failed);
    this.#socket.on('close', () => {
      if (this.#answered) failed(new Error('the connection was closed before the answer'));
    });
  }

  exchange(request: Buffer | string, answered: (answer: Answer) => void): void {
    this.#answered = answered;
    this.#sent = performance.now();
    this.#socket.write(request);
  }

  end(): void {
    this.#socket.end();
  }

  #takeHead(chunk: Buffer): void {
    this.#head = this.#head.length ? Buffer.concat([this.#head, chunk]) : chunk;
    const end = this.#head.indexOf(endOfHead);
    if (end < 0) return;
    const text = this.#head.toString('latin1', 0, end);
    const length = /content-length: (\d+)/i.exec(text);
    if (!length) return void this.#socket.destroy(new Error('an answer without a length'));
    this.#status = Number(text.slice(9, 12));
    this.#missing = Number(length[1]);
    const rest = this.#head.subarray(end + 4);
    this.#head = Buffer.alloc(0);
    this.#takeBody(rest);
  }

  #takeBody(chunk: Buffer): void {
    this.#missing -= chunk.length;
    if (this.keepsBodies) this.#body.push(chunk);
    if (this.#missing > 0) return;
    const answered = this.#answered!;
    const body = this.keepsBodies ? Buffer.concat(this.#body).toString('utf8') : '';
    this.#answered = null;
    this.#missing = -1;
    this.#body = [];
    answered({ status: this.#status, ms: performance.now() - this.#sent, body });
  }
}

/** Writes down requests to one server. */
export class Requests {
  readonly #headers: string;

  constructor(url: string, token: string | null) {
    this.#headers = `Host: ${new URL(url).host}\r\n${token ? `Authorization: Bearer ${token}\r\n` : ''}`;
  }

  get(path: string): string {
    return `GET ${path} HTTP/1.1\r\n${this.#headers}\r\n`;
  }

  post(path: string, body: string): string {
    return `POST ${path} HTTP/1.1\r\n${this.#headers}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  }
}

/** Sends requests one after another, each with its response; rejects if a response is not 200. */
export class Client {
  readonly requests: Requests;
  readonly #connection: Connection;
  #reject: (error: Error) => void = () => {};

  constructor(url: string, token: string | null) {
    this.requests = new Requests(url, token);
    this.#connection = new Connection(url, error => this.#reject(error));
  }

  send(request: string, keepsBody = false): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      this.#connection.keepsBodies = keepsBody;
      this.#connection.exchange(request, answer => {
        if (answer.status === 200) resolve(answer);
        else reject(new Error(`${request.split('\r\n', 1)[0]}: ${answer.status} ${answer.body}`));
      });
    });
  }

  get(path: string, keepsBody = false): Promise<Answer> {
    return this.send(this.requests.get(path), keepsBody);
  }

  end(): void {
    this.#connection.end();
  }
}
