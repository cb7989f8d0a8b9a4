package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"kolla.openstack.org/kolla/internal/base/crash"
	"kolla.openstack.org/kolla/internal/base/failure"
)

// BucketScheme begins the URLs of buckets.
const BucketScheme = "s3://"

const (
	// partSize is the size of the parts of a file in bytes. S3 allows 10,000 parts: 312 GiB. A part is
	// kept in memory.
	partSize = 32 << 20
	// attempts limits how often a request is sent.
	attempts = 5
)

// Bucket is a Target in a bucket of an object storage that speaks S3.
type Bucket struct {
	client *minio.Client
	bucket string
	prefix string // empty, or ends in a slash
}

var _ Target = (*Bucket)(nil)

// OpenBucket opens s3://BUCKET or s3://BUCKET/PREFIX. getenv has the variables that other clients of S3
// read: AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, AWS_REGION, and the credentials, which may also be in the
// file of credentials of the AWS tools.
func OpenBucket(ctx context.Context, place string, getenv func(string) string) (*Bucket, error) {
	at, err := url.Parse(place)
	if err != nil || at.Host == "" || at.Host != at.Hostname() || at.User != nil || at.RawQuery != "" || at.Fragment != "" {
		return nil, failure.New(fmt.Sprintf("%q is not a bucket", place), "A bucket is s3://BUCKET or s3://BUCKET/PREFIX. AWS_ENDPOINT_URL names another object storage than that of AWS.")
	}
	endpoint := cmp.Or(getenv("AWS_ENDPOINT_URL_S3"), getenv("AWS_ENDPOINT_URL"))
	region := getenv("AWS_REGION")
	if endpoint == "" {
		endpoint = "https://s3.amazonaws.com"
	} else {
		region = cmp.Or(region, "us-east-1") // the name that others take for their only region
	}
	server, err := url.Parse(endpoint)
	if err != nil || server.Host == "" || server.Scheme != "https" && server.Scheme != "http" || strings.Trim(server.Path, "/") != "" {
		return nil, failure.New(fmt.Sprintf("AWS_ENDPOINT_URL is not the address of an object storage: %q", endpoint), "It is a URL with no path, such as https://s3.example.org.")
	}
	client, err := minio.New(server.Host, &minio.Options{
		Creds: credentials.NewChainCredentials([]credentials.Provider{
			&credentials.Static{Value: credentials.Value{
				AccessKeyID: getenv("AWS_ACCESS_KEY_ID"), SecretAccessKey: getenv("AWS_SECRET_ACCESS_KEY"), SessionToken: getenv("AWS_SESSION_TOKEN"),
				SignerType: credentials.SignatureV4,
			}},
			&credentials.FileAWSCredentials{},
		}),
		Secure:     server.Scheme == "https",
		Region:     region,
		MaxRetries: attempts,
	})
	if err != nil {
		return nil, unreachable(place, err)
	}
	b := &Bucket{client, at.Host, ""}
	if prefix := strings.Trim(at.Path, "/"); prefix != "" {
		b.prefix = path.Clean(prefix) + "/"
	}
	there, err := client.BucketExists(ctx, b.bucket)
	if err == nil && !there {
		err = errors.New("the bucket does not exist")
	}
	if err != nil {
		return nil, unreachable(b.String(), bucketError(err))
	}
	return b, nil
}

// bucketError adds to an error of the server what a user needs to know.
func bucketError(err error) error {
	answer := minio.ToErrorResponse(err)
	switch {
	case answer.StatusCode == http.StatusNotFound && answer.Code == minio.NoSuchKey:
		return fs.ErrNotExist
	case answer.StatusCode == http.StatusForbidden:
		return fmt.Errorf("%w (%s). The credentials are AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or in ~/.aws/credentials", err, answer.Code)
	}
	return err
}

// String returns the URL.
func (b *Bucket) String() string {
	return strings.TrimSuffix(BucketScheme+b.bucket+"/"+b.prefix, "/")
}

// Close implements Target.
func (b *Bucket) Close(context.Context) error { return nil }

// key returns the key of a file.
func (b *Bucket) key(backup, file string) string { return b.prefix + path.Join(backup, file) }

// Backups implements Target.
func (b *Bucket) Backups(ctx context.Context) (names []string, err error) {
	for object := range b.client.ListObjectsIter(ctx, b.bucket, minio.ListObjectsOptions{Prefix: b.prefix}) {
		if object.Err != nil {
			return nil, unreachable(b.String(), bucketError(object.Err))
		}
		if name, is := strings.CutSuffix(strings.TrimPrefix(object.Key, b.prefix), "/"); is && name != "" {
			names = append(names, name)
		}
	}
	return names, nil
}

// Create implements Target.
func (b *Bucket) Create(ctx context.Context, backup, file string) (io.WriteCloser, error) {
	reader, writer := io.Pipe()
	f := &bucketFile{pipe: writer, done: make(chan error, 1)}
	go func() {
		err := crash.Catch(func() error {
			// Servers with locked objects want a checksum, and all servers know this one.
			_, err := b.client.PutObject(ctx, b.bucket, b.key(backup, file), reader, -1, minio.PutObjectOptions{PartSize: partSize, SendContentMd5: true})
			return err
		})
		if err != nil {
			err = fmt.Errorf("write %s in %s: %w", path.Join(backup, file), b, bucketError(err))
		}
		reader.CloseWithError(cmp.Or(err, io.ErrClosedPipe))
		f.done <- err
	}()
	return f, nil
}

// bucketFile is a file that is being written.
type bucketFile struct {
	pipe *io.PipeWriter
	done chan error
}

// Write implements io.Writer.
func (f *bucketFile) Write(p []byte) (int, error) { return f.pipe.Write(p) }

// Close implements io.Closer.
func (f *bucketFile) Close() error { return errors.Join(f.pipe.Close(), <-f.done) }

// Open implements Target.
func (b *Bucket) Open(ctx context.Context, backup, file string) (io.ReadCloser, error) {
	object, err := b.client.GetObject(ctx, b.bucket, b.key(backup, file), minio.GetObjectOptions{})
	if err == nil {
		_, err = object.Stat() // sends the request
	}
	if err != nil {
		return nil, bucketError(err)
	}
	return object, nil
}

// Remove implements Target. The manifest goes first: without it, a backup is not complete.
func (b *Bucket) Remove(ctx context.Context, backup string) error {
	if err := b.client.RemoveObject(ctx, b.bucket, b.key(backup, manifestFile), minio.RemoveObjectOptions{}); err != nil {
		return bucketError(err)
	}
	for object := range b.client.ListObjectsIter(ctx, b.bucket, minio.ListObjectsOptions{Prefix: b.key(backup, "") + "/", Recursive: true}) {
		err := object.Err
		if err == nil {
			err = b.client.RemoveObject(ctx, b.bucket, object.Key, minio.RemoveObjectOptions{})
		}
		if err != nil {
			return bucketError(err)
		}
	}
	return nil
}
