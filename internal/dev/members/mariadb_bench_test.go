package members_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// BenchmarkMariaDB answers statements of eight clients: one member, and three through HAProxy, as services
// reach them. Half of the statements write.
func BenchmarkMariaDB(b *testing.B) {
	c := newCluster(b, 3)
	c.shape(b, 1)
	c.start(b, 0)
	eventually(b, c.members[0].ready)
	b.Run("members=1", func(b *testing.B) { c.members[0].answers(b, address(0)) })
	c.grows(b)
	c.client.start(b)
	c.synced(b)
	b.Run("members=3", func(b *testing.B) { c.client.answers(b, "127.0.0.1") })
	for _, m := range c.members {
		b.Run(fmt.Sprintf("memory/member=%d", m.number), m.resident)
	}
}

// answers runs b.N statements in the container of a member.
func (m *member) answers(b *testing.B, host string) {
	slap := []string{
		"mariadb-slap", "--no-defaults", "--host=" + host, "--user=root", "--password=" + password, "--create-schema=pace", "--concurrency=8", "--iterations=1",
		"--auto-generate-sql", "--auto-generate-sql-add-autoincrement", "--auto-generate-sql-load-type=mixed", "--auto-generate-sql-write-number=100",
	}
	if _, err := m.exec(slices.Concat(slap, []string{"--number-of-queries=" + strconv.Itoa(max(b.N, 8))})...); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "statements/s")
}

// resident reports the memory of all processes of a member.
func (m *member) resident(b *testing.B) {
	out, err := m.exec("sh", "-c", "cat /proc/[0-9]*/status | grep ^VmRSS:")
	if err != nil {
		b.Fatal(err)
	}
	sum := 0
	for line := range strings.Lines(out) {
		kB, err := strconv.Atoi(strings.Fields(line)[1])
		if err != nil {
			b.Fatal(err)
		}
		sum += kB
	}
	b.ReportMetric(float64(sum)/1024, "MB")
	b.ReportMetric(0, "ns/op")
}
