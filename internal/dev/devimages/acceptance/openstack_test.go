package acceptance_test

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// patience limits the time that a test waits. The limit is long enough for a busy machine; it is no
// measure of speed.
const patience = 5 * time.Minute

// uwsgi returns the configuration of an API under uWSGI, like Kolla's. what contains the lines that
// name the application.
func uwsgi(port int, what string) string {
	return fmt.Sprintf(`
[uwsgi]
http-socket = 127.0.0.1:%d
%s
plugins-dir = /usr/lib/uwsgi/plugins
plugins = python3
buffer-size = 65535
master = true
lazy-apps = true
need-app = true
die-on-term = true
`, port, what)
}

// daemon returns the configuration of a service that needs no other service. section is the section
// of its database.
func daemon(name, section string) string {
	return fmt.Sprintf(`
[DEFAULT]
use_stderr = true
transport_url = fake://
[%s]
connection = sqlite:////var/lib/%s/db
[oslo_concurrency]
lock_path = /var/lib/%[2]s/tmp
`, section, name)
}

// commands checks that the image has the programs of every OpenStack service, and that the given
// programs are in the virtual environment.
func (c container) commands(programs ...string) {
	c.Helper()
	c.succeeds("openstack", "--version")
	c.succeeds("python3", "-c", "import openstack, sys; assert sys.prefix == '/var/lib/kolla/venv'")
	for _, program := range programs {
		c.succeeds("test", "-x", "/var/lib/kolla/venv/bin/"+program)
	}
}

// answers creates the database, starts the service as in a hardened pod, and waits until it answers
// a request.
func (c container) answers(user string, files map[string]string, sync, serve, url string) {
	c.Helper()
	r := c.direct(user, "/var/lib/"+user, files, "sh", "-euc", "mkdir -p ~/tmp\n"+sync+"\nexec "+serve)
	r.becomes("healthcheck_curl", url)
	if err := r.exec("", "sh", "-c", "! touch /etc/"+user+"/file"); err != nil {
		c.Error("the root directory can be written to:", err)
	}
}

// says creates the database, starts the service as in a hardened pod, and waits until its log
// contains a text.
func (c container) says(user string, files map[string]string, sync, serve, want string) {
	c.Helper()
	r := c.direct(user, "/var/lib/"+user, files, "sh", "-euc", "mkdir -p ~/tmp\n"+sync+"\nexec "+serve)
	eventually(c.T, func() error {
		log := r.logged()
		if strings.Contains(log, want) {
			return nil
		}
		select {
		case err := <-r.end:
			c.Fatalf("it has ended (%v) and not said %q:\n%s", err, want, log)
		default:
		}
		return fmt.Errorf("the log does not say %q:\n%s", want, log)
	})
}

// bootstraps runs the bootstrap branch of an image, like Kolla does.
func (c container) bootstraps(user string, files map[string]string) {
	c.Helper()
	c.configure("true", user, files)
	c.once("KOLLA_BOOTSTRAP=")
}

func placement(c container) {
	c.commands("placement-manage", "placement-status", "uwsgi")
	config := map[string]string{"/etc/placement/placement.conf": daemon("placement", "placement_database")}
	c.bootstraps("placement", config)
	c.once("KOLLA_UPGRADE=")
	c.once("KOLLA_OSM=")
	config["/etc/placement/uwsgi.ini"] = uwsgi(8780, "module = placement.wsgi.api:application")
	c.answers("placement", config, "placement-manage db sync", "uwsgi --ini /etc/placement/uwsgi.ini", "http://127.0.0.1:8780/")
}

func glance(c container) {
	c.commands("glance-manage", "glance-status", "glance-api")
	c.succeeds("python3", "-c", "import rados, rbd")
	config := map[string]string{"/etc/glance/glance-api.conf": `
[DEFAULT]
use_stderr = true
bind_host = 127.0.0.1
workers = 1
enabled_backends = file:file
[glance_store]
default_backend = file
[file]
filesystem_store_datadir = /var/lib/glance/images/
[os_glance_staging_store]
filesystem_store_datadir = /var/lib/glance/staging/
[os_glance_tasks_store]
filesystem_store_datadir = /var/lib/glance/tasks/
[database]
connection = sqlite:////var/lib/glance/db
`}
	c.bootstraps("glance", config)
	for _, step := range []string{"EXPAND", "MIGRATE", "CONTRACT"} {
		c.once("KOLLA_UPGRADE=", "GLANCE_DB_"+step+"=")
	}
	c.answers("glance", config, "glance-manage db_sync", "glance-api", "http://127.0.0.1:9292/healthcheck")
}

func barbican(c container) {
	c.commands("barbican-db-manage", "barbican-status", "barbican-keystone-listener", "barbican-worker")
	config := map[string]string{"/etc/barbican/barbican.conf": daemon("barbican", "database") + `
[queue]
enable = true
[keystone_notifications]
enable = true
`}
	user := "barbican"
	sync := "barbican-db-manage upgrade"
	switch c.image {
	case "barbican-worker":
		c.says(user, config, sync, "barbican-worker", "Starting the TaskServer")
	case "barbican-keystone-listener":
		c.says(user, config, sync, "barbican-keystone-listener", "oslo_messaging.notify.listener")
	default:
		c.bootstraps(user, config)
		config["/etc/barbican/vassals/barbican-api.ini"] = uwsgi(9311, "paste = config:/etc/barbican/barbican-api-paste.ini")
		c.answers(user, config, sync, "uwsgi --master --emperor /etc/barbican/vassals", "http://127.0.0.1:9311/")
	}
}

func heat(c container) {
	c.commands("heat-manage", "heat-status", "heat-engine")
	config := map[string]string{"/etc/heat/heat.conf": daemon("heat", "database")}
	sync := "heat-manage db_sync"
	switch c.image {
	case "heat-engine":
		c.says("heat", config, sync, "heat-engine", "Starting engine_worker")
	case "heat-api-cfn":
		config["/etc/heat/uwsgi.ini"] = uwsgi(8000, "module = heat.wsgi.cfn:application")
		c.answers("heat", config, sync, "uwsgi --ini /etc/heat/uwsgi.ini", "http://127.0.0.1:8000/healthcheck")
	default:
		config["/etc/heat/uwsgi.ini"] = uwsgi(8004, "module = heat.wsgi.api:application")
		c.answers("heat", config, sync, "uwsgi --ini /etc/heat/uwsgi.ini", "http://127.0.0.1:8004/healthcheck")
	}
}

func cinder(c container) {
	c.commands("cinder-manage", "cinder-status", "cinder-rootwrap", "privsep-helper", "openstack")
	c.succeeds("python3", "-c", "import rados, rbd")
	c.succeeds("rbd", "--version")
	config := map[string]string{"/etc/cinder/cinder.conf": daemon("cinder", "database") + `
[coordination]
backend_url = file:///var/lib/cinder/coordination
[DEFAULT]
enabled_backends = fake
[fake]
volume_driver = cinder.tests.fake_driver.FakeLoggingVolumeDriver
volume_backend_name = fake
`}
	sync := "cinder-manage db sync"
	switch program := c.image; program {
	case "cinder-api":
		c.bootstraps("cinder", config)
		c.once("KOLLA_OSM=")
		config["/etc/cinder/uwsgi.ini"] = uwsgi(8776, "module = cinder.wsgi.api:application")
		c.answers("cinder", config, sync, "uwsgi --ini /etc/cinder/uwsgi.ini", "http://127.0.0.1:8776/healthcheck")
	default:
		c.says("cinder", config, sync, program, "Starting "+program+" node")
	}
}

// horizon checks that Horizon starts with and without plugins, and that the image has the static
// files of both. File names contain a hash of the content, and a page that refers to a missing file
// fails.
func horizon(c container) {
	c.commands("manage.py")
	settings := "/etc/openstack-dashboard/local_settings.d/_9998-kolla-settings.py"
	files := map[string]string{
		settings: `
DEBUG = False
COMPRESS_OFFLINE = True
WEBROOT = '/'
ALLOWED_HOSTS = ['*']
SESSION_ENGINE = 'django.contrib.sessions.backends.signed_cookies'
CACHES = {'default': {'BACKEND': 'django.core.cache.backends.locmem.LocMemCache'}}
SECRET_KEY = 'secret'
LOCAL_PATH = '/tmp'
OPENSTACK_KEYSTONE_URL = 'http://127.0.0.1:5000/v3'
POLICY_FILES_PATH = '/etc/openstack-dashboard'
`,
		"/etc/openstack-dashboard/uwsgi.ini": uwsgi(8080, `
module = openstack_dashboard.wsgi:application
static-map = /static=/var/lib/kolla/venv/lib/python3/site-packages/static
`),
	}
	page := []string{"sh", "-euc", `
url=http://127.0.0.1:8080
page=$(curl --fail --silent --show-error $url/auth/login/)
files=$(echo "$page" | grep -o '/static/dashboard/[a-z]*/output[^"]*')
for file in $files; do
	curl --fail --silent --show-error --output /dev/null "$url$file"
done
`}
	start := "uwsgi --ini /etc/openstack-dashboard/uwsgi.ini"
	hardened := c.direct("horizon", "/var/lib/horizon", files, strings.Fields(start)...)
	hardened.becomes(page...)

	files["/etc/openstack-dashboard/uwsgi.ini"] += "uid = horizon\n"
	for _, plugins := range [][]string{nil, {"ENABLE_HEAT=yes"}, {"ENABLE_DESIGNATE=yes", "ENABLE_OCTAVIA=yes"}} {
		c.configure(start, "horizon", files)
		r := c.start(plugins...)
		r.config.User = "root"
		r.becomes(page...)
		if log := r.logged(); strings.Contains(log, "static files copied") {
			c.Errorf("static files are collected at the start with %v:\n%s", plugins, log)
		}
		enabled := "/var/lib/kolla/venv/lib/python3/site-packages/openstack_dashboard/local/enabled/_1620_project_stacks_panel.py"
		if there := r.exec("root", "test", "-f", enabled) == nil; there != slices.Contains(plugins, "ENABLE_HEAT=yes") {
			c.Errorf("with %v, it is %v that Heat's panel is there", plugins, there)
		}
		r.stops(30 * time.Second)
	}

	// A page below another path needs other static files.
	files[settings] = strings.Replace(files[settings], "WEBROOT = '/'", "WEBROOT = '/other/'", 1)
	c.configure("true", "horizon", files)
	out, err := c.service().CombinedOutput()
	if err != nil || !strings.Contains(string(out), "static files copied") {
		c.Errorf("static files are not collected for another path: %v\n%s", err, out)
	}
}
