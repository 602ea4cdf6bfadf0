// The servers that most people have, as they come: what they are not told to send, they do not send.
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer, type RunningServer } from "./app.js";

/** Starts `program`, a shell command, after writing `config` with its words FOLDER and RUN, a folder of its own, filled in. */
function startConfigured(folder: string, config: string, program: string): Promise<RunningServer> {
  const own = mkdtempSync(join(tmpdir(), "gpt2-server-"));
  writeFileSync(join(own, "server.conf"), config.replaceAll("FOLDER", folder).replaceAll("RUN", own));
  // The port is not known before.
  const command = `cd ${own} && sed -i "s/PORT/$0/" server.conf && exec ${program}`;
  return startServer(folder, "sh", "-c", command.replaceAll("RUN", own), "{port}");
}

export const startPython = (folder: string) =>
  startServer(folder, "python3", "-m", "http.server", "{port}", "--bind", "localhost");

/** With Debian's table of types. */
export const startNginx = (folder: string) =>
  startConfigured(
    folder,
    `daemon off; pid RUN/nginx.pid; error_log stderr;
    ${process.getuid?.() === 0 ? "user root;" : ""}
    events {}
    http {
      include /etc/nginx/mime.types; default_type application/octet-stream; access_log off; gzip on;
      ${["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path RUN/${name};`).join(" ")}
      server { listen localhost:PORT; root FOLDER; }
    }`,
    "/usr/sbin/nginx -p RUN -c RUN/server.conf",
  );

/** With the modules that Debian switches on, its table of types, and what it compresses. */
export const startApache = (folder: string) =>
  startConfigured(
    folder,
    `ServerName localhost
    Listen localhost:PORT
    PidFile RUN/apache.pid
    ErrorLog RUN/error.log
    DefaultRuntimeDir RUN
    ${[
      "mpm_event",
      "authz_core",
      "authz_host",
      "access_compat",
      "alias",
      "autoindex",
      "deflate",
      "dir",
      "filter",
      "mime",
      "negotiation",
      "reqtimeout",
      "setenvif",
    ]
      .map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`)
      .join("\n")}
    TypesConfig /etc/mime.types
    AddType application/x-gzip .gz .tgz
    AddOutputFilterByType DEFLATE text/html text/plain text/xml text/css text/javascript application/javascript application/json application/wasm
    DocumentRoot FOLDER
    <Directory FOLDER>
      Options Indexes FollowSymLinks
      AllowOverride None
      Require all granted
    </Directory>`,
    "/usr/sbin/apache2 -f RUN/server.conf -D FOREGROUND",
  );
