package realcloud_test

import (
	"strings"
	"testing"
	"time"

	"kolla.openstack.org/kolla/internal/dev/s3test"
)

// TestRestore loses a cloud with servers, all but its Ceph, and makes it again from its configuration and
// a backup in a bucket. An image, a volume, a secret and a server with its network come back.
func TestRestore(t *testing.T) {
	c := newCloud(t, "compute-kit", 3)
	c.backends = []string{"rbd"}
	c.write(t, "real.auto.vars.hcl", values(`rbd = { type = "rbd" }`))
	c.ceph(t)
	url, _ := s3test.Start(t)
	for name, value := range map[string]string{"AWS_ENDPOINT_URL": url, "AWS_ACCESS_KEY_ID": s3test.AccessKey, "AWS_SECRET_ACCESS_KEY": s3test.SecretKey} {
		t.Setenv(name, value)
	}
	l := &losses{}
	take(t, c, []step{
		{"apply", appliesAll},
		{"used", func(t *testing.T, c *cloud) {
			c.haproxy(t)
			take(t, c, []step{{"contents", l.make}, {"saved", l.save}})
		}},
		{"lost", func(t *testing.T, c *cloud) { c.lose(t) }},
		{"made again", func(t *testing.T, c *cloud) { c.makeAgain(t, []string{"mariadb", "ovn", "rabbitmq"}, l.backup...) }},
		{"back", func(t *testing.T, c *cloud) {
			c.haproxy(t) // node ports are others now
			take(t, c, []step{{"restored", l.databasesAreBack}, {"image", l.imageIsBack}, {"volume", l.volumeIsBack}, {"secret", l.secretIsBack}, {"server", l.serverIsBack}})
		}},
	})
}

// losses are resources of a cloud that is lost.
type losses struct {
	image, volume string // IDs
	secret        string // URL
	backup        []string
}

func (l *losses) make(t *testing.T, c *cloud) {
	l.image = c.imageReturns(t, imageName)
	l.volume = c.volume(t, "kept", "--image", imageName)
	l.secret = c.value(t, "secret", "store", "--name", "kept", "--payload", "eight bits", "-f", "value", "-c", "Secret href")
	resourcesAreMade(t, c)
	c.script(t, "ping.py")
	guest := &server{}
	c.servers(t, guest, "boot", "guest-1", "real-2", userData)
	guests["guest-1"] = guest
	c.answers(t, "guest-1")
}

func (l *losses) save(t *testing.T, c *cloud) {
	const place = "s3://" + s3test.Bucket + "/clouds"
	c.keyForBackups(t)
	began := time.Now()
	l.backup = []string{"-from=" + place, c.save(t, place)}
	measured(t, "backup of a cloud with servers into a bucket", time.Since(began).Round(time.Second))
	c.value(t, "network", "create", "newer", "-f", "value", "-c", "id")
}

func (l *losses) databasesAreBack(t *testing.T, c *cloud) {
	c.eventualToken(t)
	c.answerAll(t)
	c.noChanges(t)
	if networks := c.value(t, "network", "list", "-f", "value", "-c", "Name"); strings.Contains(networks, "newer") || !strings.Contains(networks, "inner") {
		t.Errorf("the networks are not those of the backup: %s", networks)
	}
}

func (l *losses) imageIsBack(t *testing.T, c *cloud) {
	const file = "back.bin"
	c.value(t, "image", "save", l.image, "--file", file)
	if sent, got := c.noted(t, "up.bin"), c.noted(t, file); got != sent {
		t.Errorf("%d bytes came back of %d, or others", len(got), len(sent))
	}
}

// volumeIsBack checks that the volume has its data, and that Cinder can use it.
func (l *losses) volumeIsBack(t *testing.T, c *cloud) {
	c.wantImage(t, l.volume)
	clone := c.volume(t, "clone", "--source", "kept")
	c.wantImage(t, clone)
}

func (l *losses) secretIsBack(t *testing.T, c *cloud) {
	if got := c.value(t, "secret", "get", l.secret, "--payload", "-f", "value", "-c", "Payload"); got != "eight bits" {
		t.Errorf("the secret came back as %q", got)
	}
}

// serverIsBack checks that Nova knows the server whose disk is lost, and that a rebuild starts it with its
// addresses.
func (l *losses) serverIsBack(t *testing.T, c *cloud) {
	c.value(t, "server", "rebuild", "guest-1", "--image", "guest", "--wait")
	c.answers(t, "guest-1")
}
