import java.io.FileOutputStream;
import java.util.*;
import java.util.zip.*;
import jdk.internal.org.objectweb.asm.*;

/**
 * Fits the jar, whose Elasticsearch was built for Lucene 8.0, to the Lucene 8.3 in the same jar.
 *
 * <p>One thing is in the way of starting: a method of IndexSearcher became final that Elasticsearch overrides. All
 * methods of that class are opened; nothing else changes. Arguments: the jar, and where to write the new one.
 */
public class Fit {
  static final String CLASS = "org/apache/lucene/search/IndexSearcher.class";

  public static void main(String[] arguments) throws Exception {
    try (ZipFile old = new ZipFile(arguments[0]);
        ZipOutputStream fitted = new ZipOutputStream(new FileOutputStream(arguments[1]))) {
      fitted.setLevel(1);
      Set<String> seen = new HashSet<>();
      for (ZipEntry entry : Collections.list(old.entries())) {
        if (seen.add(entry.getName())) {
          byte[] bytes = old.getInputStream(entry).readAllBytes();
          fitted.putNextEntry(new ZipEntry(entry.getName()));
          fitted.write(entry.getName().equals(CLASS) ? opened(bytes) : bytes);
          fitted.closeEntry();
        }
      }
    }
  }

  static byte[] opened(byte[] bytes) {
    ClassWriter writer = new ClassWriter(0);
    ClassVisitor opener =
        new ClassVisitor(Opcodes.ASM8, writer) {
          @Override
          public MethodVisitor visitMethod(int access, String name, String form, String sign, String[] errors) {
            return super.visitMethod(access & ~Opcodes.ACC_FINAL, name, form, sign, errors);
          }
        };
    new ClassReader(bytes).accept(opener, 0);
    return writer.toByteArray();
  }
}
