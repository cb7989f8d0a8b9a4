package takeover

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"regexp"
	"strings"

	"kolla.openstack.org/kolla/internal/run/takeover/ansible"
)

const (
	glanceCeph = "glance_backend_ceph"
	cinderCeph = "cinder_backend_ceph"
	novaCeph   = "nova_backend_ceph"
	cinderNFS  = "enable_cinder_backend_nfs"
)

// storage writes where images and volumes are, and the service for an existing Ceph.
func (c *conversion) storage() {
	var users []string
	if c.on("enable_glance") {
		users = append(users, c.glance()...)
	}
	if c.on("enable_cinder") {
		users = append(users, c.cinder()...)
	}
	if c.on("enable_nova") && c.on(novaCeph) && !strings.Contains(strings.Join(users, " "), "cinder") {
		users = append(users, "cinder")
	}
	if len(users) > 0 {
		c.ceph(users)
	}
}

// glance writes the stores under the names of kolla-ansible, because images know them. It returns the
// users of Ceph.
func (c *conversion) glance() (users []string) {
	b := c.doc.block(`service "glance"`)
	if !c.on(glanceCeph) && !c.on("glance_backend_s3") {
		c.carry("glance: stores, by default a file store", "glance_backend_file", glanceCeph, "glance_backend_s3")
		c.rep.decide("Images are files on a volume of 50Gi. Set size of service \"glance\" to what the images need.")
		return nil
	}
	var stores []field
	preferred := "s3"
	if on := c.isSet("glance_backend_file") && c.on("glance_backend_file"); on {
		stores = append(stores, field{"file", object(field{"type", quote("file")})})
	}
	if c.on(glanceCeph) {
		pools := c.pools("glance_ceph_backends", "rbd", "ceph_glance_pool_name")
		stores, preferred = append(stores, pools...), pools[0].name
		user := c.text("ceph_glance_user")
		users = append(users, user)
		if user != "glance" {
			b.set("ceph_user", quote(user), c.place("ceph_glance_user"))
		}
		c.carry("glance: stores", glanceCeph, "ceph_glance_pool_name", "glance_ceph_backends")
		c.carry("glance: ceph_user", "ceph_glance_user")
	}
	if c.on("glance_backend_s3") {
		stores = append(stores, field{"s3", c.s3()})
		c.carry("glance: stores", "glance_backend_s3")
	}
	c.carry("glance: stores", "glance_backend_file")
	b.set("stores", lines(stores), "")
	if len(stores) > 1 {
		b.set("default_store", quote(preferred), "")
	}
	return users
}

// pools returns the stores or backends of type rbd: those of a list, or else one of a name with the pool
// in a variable. A list may have some in other clusters of Ceph.
func (c *conversion) pools(list, name, pool string) []field {
	rbd := func(pool string) string { return object(field{"type", quote("rbd")}, field{"pool", quote(pool)}) }
	var out []field
	v, _ := c.scope.Find(list)
	elements, _ := v.Elements()
	for _, e := range elements {
		text := func(field string) string {
			f, _ := e.Field(field)
			value := c.scope.Expand(f)
			if value.Secret {
				return ""
			}
			return value.Text
		}
		enabled, isSet := e.Field("enabled")
		switch {
		case isSet && !c.scope.Expand(enabled).Bool():
		case text("name") == "" || text("pool") == "":
			c.rep.block(fmt.Sprintf("%s (%s:%d) has an element whose name or pool is an expression: write it by hand.", list, e.At.Filename, e.At.Start.Line))
		case cmp.Or(text("cluster"), c.text("ceph_cluster")) != c.text("ceph_cluster"):
			c.rep.block(fmt.Sprintf("%s in %s is in another cluster of Ceph, and kolla reads one ceph.conf. Its images or volumes do not carry over.", text("name"), list))
		default:
			out = append(out, field{text("name"), rbd(text("pool"))})
		}
	}
	if len(out) == 0 {
		return []field{{name, rbd(c.text(pool))}}
	}
	return out
}

// s3 returns the store of images in S3.
func (c *conversion) s3() string {
	settings := []field{}
	for _, o := range []struct{ option, variable string }{
		{"s3_store_host", "glance_backend_s3_url"},
		{"s3_store_bucket", "glance_backend_s3_bucket"},
		{"s3_store_access_key", "glance_backend_s3_access_key"},
		{"s3_store_secret_key", "glance_backend_s3_secret_key"},
	} {
		var expr string
		if strings.HasSuffix(o.option, "_key") {
			expr = c.topSecret("glance-"+o.option, c.password(o.variable).Text)
		} else {
			expr = quote(c.text(o.variable))
		}
		settings = append(settings, field{o.option, expr})
		c.carry("glance: stores", o.variable, strings.TrimPrefix(o.variable, "glance_backend_"))
	}
	return object(field{"type", quote("s3")}, field{"settings", lines(settings)})
}

// hasBackend reports whether a backend of Cinder carries over, and says in the report if none does.
func (c *conversion) hasBackend() bool {
	if c.on(cinderCeph) || c.on(cinderNFS) && c.share() != "" {
		return true
	}
	v, _ := c.scope.Find("enable_cinder")
	c.rep.leave(v, "None of its backends carries over.", "Move the volumes to Ceph or NFS, and import again; or write service \"cinder\" by hand.")
	c.rep.block("Volumes: none of the backends of Cinder carries over, so the configuration has no service \"cinder\".")
	return false
}

// share returns the NFS share with volumes.
func (c *conversion) share() string {
	for _, name := range []string{"cinder/cinder-volume/nfs_shares", "cinder/nfs_shares", "nfs_shares"} {
		for line := range strings.Lines(string(c.Config[name])) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' && !ansible.IsExpression(line) && !c.leaks(line) {
				share, _, _ := strings.Cut(line, " ")
				return share
			}
		}
	}
	return ""
}

// cinder writes the backends under the names of kolla-ansible, because volumes know them. It returns the
// users of Ceph.
func (c *conversion) cinder() (users []string) {
	b := c.doc.find(`service "cinder"`)
	if b == nil {
		return nil
	}
	var backends []field
	if c.on(cinderCeph) {
		backends = append(backends, c.pools("cinder_ceph_backends", c.text("cinder_backend_ceph_name"), "ceph_cinder_pool_name")...)
		users = append(users, "cinder")
		c.carry("cinder: backends", cinderCeph, "cinder_backend_ceph_name", "ceph_cinder_pool_name", "cinder_ceph_backends")
		c.cephUser("ceph_cinder_user", "cinder")
	}
	if c.on(cinderNFS) && c.share() != "" {
		name := c.text("cinder_backend_nfs_name")
		backends = append(backends, field{name, object(field{"type", quote("nfs")}, field{"share", quote(c.share())}, field{"storage_class", quote(name)})})
		c.carry("cinder: backends", cinderNFS, "cinder_backend_nfs_name")
		c.rep.decide(fmt.Sprintf("Kubernetes mounts the share with volumes: make a PersistentVolume of the class %q that is this share (docs/storage.md, Cinder on NFS).", name))
	} else if c.on(cinderNFS) {
		v, _ := c.scope.Find(cinderNFS)
		c.rep.leave(v, "The file nfs_shares is not in the directory with overrides, or has an expression.", "Write the backend by hand: { type = \"nfs\", share = \"HOST:/PATH\" }.")
	}
	b.set("backends", lines(backends), "")
	if c.on("enable_cinder_backup") && c.text("cinder_backup_driver") == "ceph" && c.on(cinderCeph) {
		b.set("backup", object(field{"pool", quote(c.text("ceph_cinder_backup_pool_name"))}), c.place("cinder_backup_driver"))
		users = append(users, "cinder-backup")
		c.carry("cinder: backup", "enable_cinder_backup", "cinder_backup_driver", "ceph_cinder_backup_pool_name")
		c.cephUser("ceph_cinder_backup_user", "cinder-backup")
	}
	if c.on("enable_valkey") && c.text("cinder_coordination_backend") == "valkey" {
		b.set("coordination_url", "service.valkey.coordination_url", c.place("cinder_coordination_backend"))
		c.carry("cinder: coordination_url", "cinder_coordination_backend")
	}
	if storage := c.Inventory.Members("storage"); len(storage) > 0 && !same(storage, c.members("cinder-api", "cinder")) {
		b.block(`workload "volume"`).set("role", c.role(storage, "storage", "storage"), "")
		if len(users) > 1 {
			b.block(`workload "backup"`).set("role", c.role(storage, "storage", "storage"), "")
		}
	}
	return users
}

// cephUser says if a user of Ceph has another name than in kolla.
func (c *conversion) cephUser(variable, name string) {
	if v := c.value(variable); v.Text != name {
		c.rep.leave(v.Variable, fmt.Sprintf("kolla logs in to Ceph as client.%s.", name), fmt.Sprintf("Make client.%s in Ceph with the same rights, and put its keyring into secrets/ceph.client.%s.keyring.", name, name))
		return
	}
	c.carry("ceph: keyrings", variable)
}

// monitor matches the first address of Ceph's monitors.
var monitor = regexp.MustCompile(`(?m)^[ \t]*mon[_ ]host[ \t]*=[^0-9A-Za-z\n]*(?:v[12]:)?\[?([0-9A-Za-z][0-9A-Za-z.-]*)`)

// ceph writes the service for a Ceph that exists, with its keyrings as secrets.
func (c *conversion) ceph(users []string) {
	cluster := c.text("ceph_cluster")
	at := c.at(glanceCeph, cinderCeph, novaCeph)
	conf, from := []byte(nil), ""
	for _, name := range []string{"cinder", "glance", "nova"} {
		name += "/" + cluster + ".conf"
		content := bytes.TrimSpace(c.Config[name])
		switch {
		case len(content) == 0:
			continue
		case conf == nil:
			conf, from = content, name
		case !bytes.Equal(conf, content):
			c.rep.file(name, fmt.Sprintf("It differs from %s, and all services of kolla read the same.", from), "Compare the files. To give a service another one, put it into config/"+name+".")
			continue
		}
		c.rep.carryFile(name, "ceph: conf")
	}
	m := monitor.FindSubmatch(conf)
	switch {
	case conf == nil:
		c.error(at, "Ceph's configuration is missing", "The cloud uses Ceph, and the directory with overrides has neither cinder/%s.conf nor glance/%s.conf. Name the directory: -config=DIR.", cluster, cluster)
		return
	case m == nil || ansible.IsExpression(string(conf)):
		c.error(at, "Ceph's monitors are not known", "%s has no address in mon_host, or has expressions. Give a file without expressions: copy it from a control node, /etc/kolla/cinder-volume/ceph/%s.conf.", from, cluster)
		return
	}
	if c.leaks(string(conf)) {
		c.error(at, "A password in Ceph's configuration", "%s contains a value of passwords.yml. Take the line out of a copy of the directory: keys belong into keyrings.", from)
		return
	}
	b := c.doc.block(`service "ceph"`)
	b.set("external", object(field{"host", quote(string(m[1]))}), path.Join(c.ConfigName, from)+": mon_host")
	b.set("conf", `file("ceph/ceph.conf")`, "")
	c.Copies["ceph/ceph.conf"] = append(conf, '\n')
	var keyrings []field
	for _, user := range users {
		name := fmt.Sprintf("ceph.client.%s.keyring", user)
		content, found := c.keyring(cluster, user)
		if found == "" {
			c.error(at, "A keyring is missing", "The cloud uses Ceph as client.%s, and the directory with overrides has no %s.client.%s.keyring. Name the directory: -config=DIR.", user, cluster, user)
			continue
		}
		c.secrets[name] = content
		keyrings = append(keyrings, field{user, fmt.Sprintf("file(%s)", quote(SecretsDir+"/"+name))})
	}
	b.set("keyrings", lines(keyrings), "")
	if v := c.password("cinder_rbd_secret_uuid"); v.Text != "" {
		c.secrets["ceph-secret-uuid"] = []byte(v.Text)
		b.set("secret_uuid", fmt.Sprintf("trimspace(file(%s))", quote(SecretsDir+"/ceph-secret-uuid")), c.place("cinder_rbd_secret_uuid"))
		c.carry("ceph: secret_uuid, secrets/ceph-secret-uuid", "cinder_rbd_secret_uuid")
	}
}

// keyring finds the keyring of a user of Ceph, and says which file of the directory has it.
func (c *conversion) keyring(cluster, user string) (content []byte, found string) {
	names := []string{user}
	for variable, ours := range map[string]string{"ceph_cinder_user": "cinder", "ceph_cinder_backup_user": "cinder-backup"} {
		if user == ours {
			names = []string{c.text(variable)}
		}
	}
	for _, dir := range []string{"glance/", "cinder/cinder-backup/", "cinder/cinder-volume/", "cinder/", "nova/"} {
		name := fmt.Sprintf("%s%s.client.%s.keyring", dir, cluster, names[0])
		other, ok := c.Config[name]
		switch {
		case !ok:
		case found == "":
			content, found = other, name
			c.rep.carryFile(name, "ceph: keyrings")
		case bytes.Equal(bytes.TrimSpace(content), bytes.TrimSpace(other)):
			c.rep.carryFile(name, "ceph: keyrings")
		default:
			c.rep.file(name, fmt.Sprintf("It differs from %s, and all services of kolla read the same.", found), "Keep the one that Ceph accepts: ceph auth get client."+names[0]+".")
		}
	}
	return content, found
}

// computeStorage says how hypervisors reach disks and volumes.
func (c *conversion) computeStorage(b *block) {
	if c.on(cinderNFS) && c.doc.find(`service "cinder"`) != nil {
		b.set("nfs", "true", c.place(cinderNFS))
	}
	if !c.on(novaCeph) {
		c.carry("nova-compute: images_pool", novaCeph)
		return
	}
	b.set("images_pool", quote(c.text("ceph_nova_pool_name")), c.place("ceph_nova_pool_name"))
	c.carry("nova-compute: images_pool", novaCeph, "ceph_nova_pool_name")
	if user := c.text("ceph_nova_user"); user != "cinder" {
		c.rep.decide(fmt.Sprintf("Disks of servers: nova-compute logs in to Ceph as client.cinder, not as client.%s. Give client.cinder the rights on pool %s: ceph auth caps.", user, c.text("ceph_nova_pool_name")))
	}
}
