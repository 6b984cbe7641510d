import os, sys
import eventlet, eventlet.wsgi
from swift.common import utils
home, ports = sys.argv[1], [int(port) for port in sys.argv[2:6]]
utils.set_swift_dir(home)
utils.eventlet_monkey_patch()
eventlet.hubs.use_hub(utils.get_hub())
from swift.common.http_protocol import SwiftHttpProtocol
from swift.common.ring import RingBuilder
from swift.common.wsgi import loadapp
roles = ['proxy', 'account', 'container', 'object']
for role, port in zip(roles[1:], ports[1:]):
    ring = os.path.join(home, role + '.ring.gz')
    if not os.path.exists(ring):
        builder = RingBuilder(1, 1, 1)
        builder.add_dev(dict(region=1, zone=1, weight=1, ip='127.0.0.1', port=port, device='disk'))
        builder.rebalance()
        builder.get_ring().save(ring)
class Silent(object):
    def write(self, text): pass
    def info(self, *args): pass
    debug = warning = error = info
class Cache(object):
    kept = {}
    def get(self, key, raise_on_error=False): return self.kept.get(key)
    def set(self, key, value, **ignored): self.kept[key] = value
    def delete(self, key, server_key=None): self.kept.pop(key, None)
def cached(app, cache):
    def call(env, start_response):
        env['swift.cache'] = cache
        return app(env, start_response)
    return call
servers = []
for role, port in list(zip(roles, ports))[::-1]:
    app = loadapp(os.path.join(home, role + '.conf'), global_conf=dict(log_name=role))
    if role == 'proxy': app = cached(app, Cache())
    socket = eventlet.listen(('127.0.0.1', port), reuse_port=False)
    servers.append(eventlet.spawn(eventlet.wsgi.server, socket, app, Silent(), protocol=SwiftHttpProtocol,
                                  capitalize_response_headers=False))
for server in servers: server.wait()
